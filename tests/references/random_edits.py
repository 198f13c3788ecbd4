# ruff: noqa: E501 - lines of programs, as they are printed
"""What is done to a random scene while it runs: the part of `random_scenes.Writer` that edits."""

from __future__ import annotations

INTEGRATORS = ("euler", "bdf2", "midpoint")


class Edits:
    """Lines that switch, soften, aim, add, remove, hold, put and drive."""

    TIES = ("plane", "axis", "align", "fix", "clamp", "sphere", "circle", "follow", "distance", "prismatic", "screw",
            "fuse", "lock", "ball", "hinge", "keyhole", "cable")  # fmt: skip

    def anything(self) -> str | None:
        every = [name for names in self.names.values() for name in names if not name.startswith(("world", "snap"))]
        return self.pick(every) if every else None

    def edit(self) -> None:
        ties = [name for kind in self.TIES for name in self.names.get(kind, ())]
        name = self.pick(ties) if ties else None
        what = self.random.randrange(18)
        if what == 0 and name:
            self.write(f"{name}.enabled = {self.chance(0.5)}")
        elif what == 1 and name:
            column = self.pick(("compliance", "angular_compliance"))
            self.write(f"{name}.{column} = {0.0 if self.chance(0.3) else self.soft()}")
        elif what == 2 and name:
            self.write(f"{name}.{self.pick(('damping', 'angular_damping'))} = {self.scale(1e-3, 100)}")
        elif what == 3:
            self.aim()
        elif what == 4 and (thing := self.anything()):
            self.write(f"scene.remove({thing})")
        elif what == 5:
            self.body()
        elif what in (6, 7):
            self.tie()
        elif what == 8 and (world := self.some("world")):
            self.write(f"{world}.position = {world}.position + {self.vector(self.pick((0.01, 0.3)))}")
        elif what == 9:
            self.hand()
        elif what == 10:
            self.put()
        elif what == 11:
            throw = "" if self.chance(0.3) else ", throw=False"
            self.write(f"scene.settle(max_iterations={self.pick((5, 30, 100))}{throw})")
        elif what == 12:
            snap = self.some("snap")
            if snap and self.chance(0.5):
                self.write(f"scene.restore({snap})")
            else:
                self.write(f"{self.name('snap')} = scene.snapshot()")
        elif what == 13 and self.chance(0.4):
            self.write("scene.reset()")
        elif what == 14:
            self.write(self.pick((
                f"scene.gravity = {self.vector(10)}",
                f"scene.drag = {self.pick((0.0, self.scale(0.01, 100)))}",
                f'scene.integrator = "{self.scheme(INTEGRATORS)}"',
            )))  # fmt: skip
        elif what == 15:
            self.winch()
        elif what == 16 and self.chance(0.3):
            self.write(f"scene.displace({self.real(-0.01, 0.01)} * np.ones(scene.dofs))")
        elif what == 17 and (load := self.some("load")):
            self.write(self.pick((f"{load}.force = {self.vector(10)}", f"{load}.enabled = {self.chance(0.5)}")))

    def aim(self) -> None:
        """Move a target."""
        kind = self.pick(("fix", "clamp", "distance", "sphere", "hinge", "prismatic"))
        name = self.some(kind)
        if name is None:
            return
        jump = self.vector(self.pick((0.005, 0.2)))
        self.write({
            "fix": f"{name}.target = {name}.target + {jump}",
            "clamp": f"{name}.target = {name}.target.position + {jump}" if self.chance(0.5) else f"{name}.target = {self.pose()}",
            "distance": f"{name}.length = {self.real(0.01, 1)}",
            "sphere": f"{name}.radius = {self.real(0.01, 1)}",
            "hinge": f"{name}.motor_speed = {self.real(-5, 5)}",
            "prismatic": f"{name}.motor_speed = {self.real(-2, 2)}",
        }[kind])  # fmt: skip

    def hand(self) -> None:
        """A point is taken by a soft grip and dragged, as on a page."""
        p = self.moving()
        if p is None:
            return
        name = self.name("fix")
        self.write(
            f"{name} = scene.add(sn.Fix({p}, compliance={self.scale(1e-4, 1e-1)}, damping={self.scale(0.1, 10)}))"
        )
        for _ in range(self.pick((1, 3))):
            self.write(f"{name}.target = {name}.target + {self.vector(0.05)}")
            self.step()
        if self.chance(0.6):
            self.write(f"scene.remove({name})")

    def become(self) -> None:
        """Now and then a body is made of something else."""
        draw = self.newest
        name = draw.choice([*self.names.get("rod", ()), *self.names.get("body", ()), *self.names.get("slider", ()), ""])
        if not name or draw.random() > 0.2:
            return
        soft, bent = f"{10 ** draw.uniform(5, 9):.3g}", [round(draw.uniform(-4, 4), 3) for _ in range(3)]
        if name.startswith("rod"):
            lines = [
                f"{name}.material = sn.Material({soft}, 0.4, {10 ** draw.uniform(2, 4):.3g}, {draw.choice((0.0, 0.01))})",
                f"{name}.section = sn.Section.circle({10 ** draw.uniform(-3, -2):.3g})",
                f"{name}.rest_curvature = {tuple(bent[: draw.choice((2, 3))])}",
                f"{name}.rest_curvature = [(0, 0), {tuple(bent[:2])}, (0, 1)]",
                f"{name}.rest_twist = {bent[0]}",
                f"{name}.damping = {draw.choice((0.0, 1e-3, 0.1))}",
            ]
        elif name.startswith("body"):
            lines = [f"{name}.mass = {10 ** draw.uniform(-3, 2):.3g}", f"{name}.inertia = 3 * {name}.inertia"]
        else:
            lines = [f"{name}.friction = {draw.uniform(0, 1):.3g}"]
        self.write(draw.choice(lines))

    def put(self) -> None:
        """Set a body's place or motion."""
        kind = self.pick(("rod", "body", "slider"))
        name = self.some(kind)
        if name is None:
            return
        self.write(self.pick({
            "rod": (
                f"{name}.set_velocity({self.vector(2)}, {self.vector(3)})",
                f"{name}.control_velocities = {self.vector(2)}",
                f"{name}.control_points = {name}.control_points + {self.vector(0.2)}",
                f"{name}.rolls = {name}.rolls + {self.real(-1, 1)}",
            ),
            "body": (
                f"{name}.position = {self.vector()}",
                f"{name}.pose = {self.pose()}",
                f"{name}.velocity = {self.vector(5)}",
                f"{name}.angular_velocity = {self.vector(30)}",
            ),
            "slider": (f"{name}.sliding_velocity = {self.real(-2, 2)}",),
        }[kind]))  # fmt: skip

    def winch(self) -> None:
        name = self.some("cable")
        if name is None:
            return
        pull = f", max_pull={self.scale(1, 1e4)}" if self.chance(0.4) else ""
        slip = f", slip={self.scale(1e-7, 1e-3)}" if self.chance(0.3) else ""
        self.write(self.pick((
            f"{name}.drive({self.real(-1, 1)}{slip}{pull})",
            f"{name}.brake()",
            f"{name}.release()",
            f"{name}.length = {name}.length * {self.real(0.8, 1.2)}",
        )))  # fmt: skip
