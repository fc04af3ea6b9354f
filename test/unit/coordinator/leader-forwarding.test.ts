import { expect, it } from 'vitest';
import { LeaderForwarding } from '../../../coordinator/server/leader-forwarding.ts';
import type { WebDoor } from '../../../shared/outbound/web-door.ts';

const request = { id: 'r1', headers: { 'x-api-key': 'key', cookie: 'c' } } as never;

/** What a follower learns of how far the log goes, when the leader answers so. */
async function readIndex(
  leaderUrl: string | undefined,
  answer: () => object,
): Promise<{ readonly index: unknown; readonly asked: unknown[] }> {
  const asked: unknown[] = [];
  const ask = async ({ href }: URL, { headers }: { headers: object }): Promise<object> => {
    asked.push([href, headers]);
    return answer();
  };
  const web = { request: ask, leave: () => undefined } as unknown as WebDoor;
  return { index: await new LeaderForwarding(web, 2).readIndex(request, { leaderUrl } as never), asked };
}

const url = 'http://10.0.0.1:9100';

it('a follower asks the leader how far the log goes, by the right of the request', async () => {
  const answer = () => ({ statusCode: 200, headers: { 'x-cep-read-index': '41' } });
  const { index, asked } = await readIndex(url, answer);
  expect(index).toBe(41);
  expect(asked).toEqual([
    [
      `${url}/api/v1/cluster/raft/status?consistency=strong`,
      { 'x-request-id': 'r1', 'x-cep-forwarded': '2', 'x-cep-waits': 'true', 'x-api-key': 'key' },
    ],
  ]);
});

it('it learns nothing of one that does not lead any more, or does not answer, and says who takes no more requests', async () => {
  const silent = (): never => {
    throw new Error('no answer');
  };
  const answers = [silent, () => ({ statusCode: 421, headers: {} }), () => ({ statusCode: 200, headers: {} })];
  for (const answer of answers) expect((await readIndex(url, answer)).index).toBe('undone');
  expect(await readIndex(undefined, silent)).toEqual({ index: 'undone', asked: [] });
  await expect(readIndex(url, () => ({ statusCode: 429, headers: {} }))).rejects.toMatchObject({ code: 'rate_limited' });
});
