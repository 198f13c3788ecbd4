"""Files for other programs: USD, glTF, ParaView, films and replays."""
