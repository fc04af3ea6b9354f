import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Coordinators } from '../../../chaos/process/coordinators.ts';
import type { Answer, Request } from '../../../chaos/process/group-access.ts';

const crowd = 1_000;
const deadlineMs = 60_000;
const names = Array.from({ length: crowd }, (_, at) => `w${at}`);
const outages = new Set([421, 429, 502, 503, 504]);

/** As workers do: what is not taken for now is said again, to the next member. */
async function persist(group: Coordinators, at: number, request: Request): Promise<Answer> {
  for (let tries = at; ; tries++) {
    const id = group.ids[tries % group.ids.length] ?? 1;
    const answer = await group.ask(id, { ...request, deadlineMs }).catch(() => undefined); // Said again below.
    if (answer !== undefined && !outages.has(answer.status)) return answer;
    await sleep(100);
  }
}

it('a thousand workers that come at once are all registered and heard', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cep-crowd-'));
  const group = await Coordinators.start(folder);
  try {
    const capacity = { cpu_cores: 1, pipelines_running: 0, max_pipelines: 0 };
    const came = names.map(async (id, at) => {
      const body = { worker_id: id, address: 'http://127.0.0.1:1', incarnation: id, version: '0', capacity };
      const registered = await persist(group, at, { method: 'POST', path: '/workers/register', body });
      const heard = await persist(group, at, { method: 'POST', path: `/workers/${id}/heartbeat`, body: { incarnation: id } });
      return [registered.status, heard.status, heard.body.acknowledged];
    });
    expect(await Promise.all(came)).toEqual(names.map(() => [201, 200, true]));
    for (const id of group.ids) {
      const { body } = await group.ask(id, { method: 'GET', path: `/workers?limit=${crowd}`, deadlineMs });
      expect(new Set((body as { id: string }[]).map((worker) => worker.id))).toEqual(new Set(names));
    }
  } finally {
    await group.killAll();
    rmSync(folder, { recursive: true, force: true });
  }
}, 600_000);
