"""A monitor as one of LeRobot's reward models, found by its own names.

LeRobot's option `discover_packages_path=goalward.lerobot_reward` imports every module here; from
`configuration_goalward` it finds `modeling_goalward` and `processor_goalward` by their names. Needs
LeRobot, which goalward itself does not.
"""
