import { expect, vi } from 'vitest';
import { wait } from './group.ts';
import type { ProcessGroup } from './process-group.ts';

/** Stops the leader, for so long at least, and until others have gone on without it; then it must serve nothing stale, and follow. */
export async function pauseLeader(group: ProcessGroup, pauseMs: number): Promise<void> {
  const leader = await group.leader();
  const stopped = group.members.get(leader);
  const untilMs = performance.now() + pauseMs;
  stopped?.child.kill('SIGSTOP');
  // It believes to lead, and finds this question when it wakes up.
  const answers: string[] = [];
  stopped?.ask({ kind: 'read', key: 'a' }, ({ kind }) => answers.push(kind));
  const term = stopped?.term ?? 0;
  await vi.waitFor(
    () => expect([...group.members.values()].some((member) => member.role === 'leader' && member.term > term)).toBe(true),
    wait,
  );
  await group.progress(60);
  await vi.waitFor(() => expect(performance.now()).toBeGreaterThan(untilMs), { ...wait, timeout: pauseMs + wait.timeout });
  stopped?.child.kill('SIGCONT');
  await vi.waitFor(() => expect(answers).toEqual(['refused']), wait);
  await vi.waitFor(() => expect(stopped?.role).toBe('follower'), wait);
  await group.progress(30);
}
