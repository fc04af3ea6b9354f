/**
 * The format in which a group writes its log and its snapshots, from 1. A version that has commands which the one before cannot read gives
 * them the next number. The group writes a format once all of its members read it, and says so in the log itself (`RaiseFormat`): until then
 * each member may be exchanged for one of the version before, whatever the others run.
 */
export const FIRST_FORMAT = 1;
/** 2: events of many requests in one command, whose texts stand behind its line as they are. 3: placements know the index at which they came, the program of before while their state is of that, and leave once they have done what they were given. 4: events say by which versions of their groups they were divided. */
export const LATEST_FORMAT = 4;
/** From here on a placement says at what index it came, and of which program of before its state is. */
export const CREATION_FORMAT = 3;
/** From here on the id of a request that takes several commands says how it is divided among them. */
export const DIVISION_FORMAT = 3;
/** From here on a placement that its group has no more leaves once it has done what it was given; before that it was gone at once. */
export const LEAVING_FORMAT = 3;
/** From here on events that were divided before the last change of their group are refused, and divided anew. */
export const VERSIONS_FORMAT = 4;
