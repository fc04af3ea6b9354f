/** What the demonstration runs: the rules of a building. */
export const buildingProgram = `# A building reports temperatures, badges, doors and power. Three rules watch it.
event Temperature:
    zone: str
    celsius: float

event Badge:
    zone: str
    person: str
    granted: bool

event Door:
    zone: str

event Power:
    zone: str
    kw: float

# Three temperatures of a zone, each higher than the one before, from 35 degrees on.
stream Overheating = Temperature where celsius > 35.0 as first
    -> Temperature where celsius > first.celsius as second
    -> Temperature where celsius > second.celsius as third
    .partition_by(zone)
    .within(1m)
    .after_match(skip_past_last)
    .emit(zone: third.zone, from_c: first.celsius, to_c: third.celsius)

# A person is refused three times, and the door of the zone opens all the same.
stream ForcedDoor = Badge where not granted as refusals
    -> Badge where not granted and person == refusals.person
    -> Badge where not granted and person == refusals.person
    -> Door as door
    .partition_by(zone)
    .within(1m)
    .after_match(skip_past_last)
    .emit(zone: door.zone, person: refusals.person)

# The cooling of a zone takes more power than it should, five seconds on average.
stream WeakCooling = Power
    .partition_by(zone)
    .window(5s)
    .aggregate(kw: avg(kw))
    .having(kw > 9.0)
    .emit(zone: zone, kw: round(kw, 1))
`;
