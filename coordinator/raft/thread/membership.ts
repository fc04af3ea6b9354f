import { isJoint, membersOf } from '../core/configuration.ts';
import type { Configuration, ConfigurationChange } from '../core/messages.ts';
import type { MembershipChange } from '../group.ts';

/** The members as they shall be; `done` when they are so already, so that a change can be asked for again. */
export function changeOf(now: Configuration, { kind, id }: MembershipChange): ConfigurationChange | 'done' | 'invalid' {
  const { voters, learners } = now;
  const isMember = membersOf(now).includes(id);
  switch (kind) {
    case 'addLearner':
      return isMember ? 'done' : { voters, learners: [...learners, id] };
    case 'promote':
      if (voters.includes(id)) return isJoint(now) ? { voters, learners } : 'done';
      return learners.includes(id) ? { voters: [...voters, id], learners: learners.filter((one) => one !== id) } : 'invalid';
    case 'remove':
      return isMember ? { voters: voters.filter((one) => one !== id), learners: learners.filter((one) => one !== id) } : 'done';
  }
}
