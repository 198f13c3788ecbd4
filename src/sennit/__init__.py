"""sennit: interactive simulation of thin elastic solids and of what they hold."""
from sennit.bodies.strand import Strand
from sennit.geometry.pose import Pose
from sennit.material import Material, Section
from sennit.coupling import VirtualCoupling
from sennit.cosserat.loads import PointLoad
from sennit.cosserat.law.laws import Law
from sennit.errors import *
__version__="0.1.0"
