import Type from 'typebox';
import { bounds } from '../bounds.ts';
import { indexKey } from '../cluster-state.ts';
import { changed, command, refused } from './outcome.ts';

const strict = { additionalProperties: false } as const;
const idSchema = Type.Integer({ minimum: 1, maximum: 2 ** 32 - 1 });

/** Where the members of the Raft group are. Who votes is the business of Raft; an id that was removed is never used again. */
export const memberCommands = {
  SetMember: command(Type.Object({ id: idSchema, url: Type.String({ minLength: 1, maxLength: 2_048 }) }, strict), (state, { id, url }) => {
    if (state.removedMembers.includes(id)) {
      return refused(
        'member_conflict',
        `member ${id} was removed, and ids are never used again`,
        'add it under an id that no member has had',
      );
    }
    const key = indexKey(id);
    const other = [...state.members.values()].find((member) => member.url === url && member.id !== id);
    if (other !== undefined) return refused('member_conflict', `member ${other.id} has the URL ${url}`, 'remove that member first');
    if (!state.members.has(key) && state.members.size >= bounds.membersMax) {
      return refused('quota_exceeded', `the group has ${state.members.size} members, and no more than ${bounds.membersMax} are taken`);
    }
    const member = { id, url };
    return changed({ ...state, members: state.members.set(key, member) }, member, { type: 'MemberSet', id: String(id) });
  }),

  /** The id is used up, whether or not the member was ever known. */
  RemoveMember: command(Type.Object({ id: idSchema }, strict), (state, { id }) => {
    const { members, removedMembers } = state;
    const removed = removedMembers.includes(id) ? removedMembers : [...removedMembers, id].sort((a, b) => a - b);
    return changed({ ...state, members: members.delete(indexKey(id)), removedMembers: removed }, null, {
      type: 'MemberRemoved',
      id: String(id),
    });
  }),
};
