import '../../../../cli/repl/conversation.ts'; // Reading it is no part of the first test.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cep } from '../cep.ts';
import { WorkFolder } from '../work-folder.ts';

const work = new WorkFolder();

async function type(...lines: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await cep(['repl'], { stdin: `${lines.join('\n')}\n` });
  expect([exitCode, stderr]).toEqual([0, '']);
  return stdout.replace(/\[2[\dT:.-]+Z\]/g, '[now]');
}

const declared = ['event A:', '    x: int', '', 'stream S = A', '    .where(x > 3)', '    .emit(x: x)'];

it('tells of members of an event that mean nothing, typed or in a file', async () => {
  const event = '{"event_type":"A","timestmap":5,"data":{"x":1}}';
  const file = work.write('members.jsonl', `${event}\n`.repeat(2));
  const [typed, played] = (await type('event A:', '    x: int', '', `:event ${event}`, `:events ${file}`)).match(/^.*timestmap.*$/gm) ?? [];
  expect(typed).toBe('1 event with a member `timestmap` beside the fields, which is passed over (did you mean timestamp?)');
  expect(played).toBe('2 events with a member `timestmap` beside the fields, which is passed over (did you mean timestamp?)');
});

it('adds what is typed to the program, sends events and shows what comes of them', async () => {
  expect(await type(...declared, ':event A { x: 5 }', ':event A(7)', ':event A { x: 1 }', ':event B {}')).toBe(
    'ok, 0 streams\nadded: S\n[now] S { x: 5 }\n[now] S { x: 7 }\nno output\nno stream reads B\n',
  );
});

it('keeps what streams remember when the program grows, and says what it kept', async () => {
  const pairs = ['stream Pairs = A as a -> A as b', '    .within(10m)', '    .emit(first: a.x, second: b.x)'];
  expect(
    await type('event A:', '    x: int', ...pairs, ':event A { x: 1 }', 'stream S = A.where(x > 0).emit(x: x)', ':event A { x: 2 }'),
  ).toBe(
    'ok, 0 streams\nadded: Pairs\nno output\nadded: S; kept with its state: Pairs\n[now] Pairs { first: 1, second: 2 }\n[now] S { x: 2 }\n',
  );
});

it('puts a declaration in the place of the one with the same name', async () => {
  const changed = await type(...declared, 'stream S = A.where(x > 0).emit(x: x)', ':event A { x: 1 }', ':source');
  expect(changed).toBe(
    'ok, 0 streams\nadded: S\nchanged: S\n[now] S { x: 1 }\nevent A:\n    x: int\n\nstream S = A.where(x > 0).emit(x: x)\n',
  );
});

it('shows an error with its place and goes on with the program before', async () => {
  const text = await type(
    ...declared,
    'stream T = A.whre(x)',
    'strem X',
    ':event A { x: 5 }',
    ':event A { x: "no" }',
    ':event {',
    ':event',
  );
  expect(text).toContain('error E091: there is no operator `.whre`\n');
  expect(text).toContain('hint: did you mean `.where`?');
  expect(text).toContain('error E000: unexpected `strem`');
  expect(text).toContain('[now] S { x: 5 }\nerror: field `x`: found text "no", expected int');
  expect(text.split('\n').filter((line) => line.startsWith('error:'))).toHaveLength(3);
});

it('says how an event is sent that was typed as it is', async () => {
  expect(await type(...declared, 'A { x: 5 }')).toBe(
    'ok, 0 streams\nadded: S\nerror: found an event where a declaration is expected\n  hint: :event A { x: 5 }\n',
  );
});

it('loads programs and event files, forgets, lets time pass, and lists what there is', async () => {
  const program = work.write(
    'rules.vpl',
    `${declared.join('\n')}\nstream Silence = A as a -> NOT A as b\n    .within(5m)\n    .emit(x: a.x)\n`,
  );
  const events = work.write('events.evt', '@0 A { x: 4 }\nnonsense {\n@1s A { x: 9 }\n');
  const text = await type(
    `:load ${program}`,
    `:events ${events}`,
    ':streams',
    ':advance 10m',
    ':reset',
    ':advance 10m',
    ':load none.vpl',
    ':events none.evt',
  );
  expect(text).toContain('added: S, Silence\n[now] S { x: 4 }\n');
  expect(text).toContain('2 events, 2 outputs, 1 refused\n');
  expect(text).toMatch(/^Stream +Reads +In +Out\nS +A +2 +2\nSilence +A +2 +0\n/m);
  expect(text).toContain('[now] Silence { x: 9 }\nforgotten; the program stays\nno output\n');
  expect(text).toContain("error: program file 'none.vpl' not found\nerror: event file 'none.evt' not found\n");
});

it('knows commands by their beginnings, names the nearest, traces, and ends with :quit', async () => {
  const text = await type(...declared, ':evnts x', ':tr on', ':ev A { x: 1 }', ':event A { x: 1 }', ':help', ':quit', ':streams');
  expect(text).toContain("error: unknown command ':evnts'\n  hint: did you mean ':events'?\n");
  expect(text).toContain('     | where(x > 3) BLOCK x (1) > 3\n');
  expect(text).toContain("error: unknown command ':ev'");
  expect(text).toMatch(/:event Type \{ field: value \} +send an event\n/);
  expect(text).not.toContain('Reads');
});

it('begins with a file, and lives when that is broken', async () => {
  const program = work.write('good.vpl', declared.join('\n'));
  expect((await cep(['repl', '--file', program], { stdin: ':event A { x: 5 }\n' })).stdout).toMatch(/^added: S\n\[.*\] S \{ x: 5 \}\n$/);
  const broken = await cep(['repl', '--file', work.write('broken.vpl', 'strem')], { stdin: 'event A: x: int\n:help\n' });
  expect([broken.exitCode, broken.stdout]).toEqual([0, expect.stringMatching(/E000(.|\n)*ok, 0 streams(.|\n)*:quit/)]);
});

it('outlives whatever is typed, and still works', async () => {
  const line = fc.oneof(
    fc.constantFrom(
      ...declared,
      ':event A { x: 4 }',
      ':reset',
      ':streams',
      ':source',
      ':trace on',
      ':advance 1s',
      ':help',
      '   .where(',
      ')',
    ),
    fc
      .string()
      .map((text) => text.replace(/[\r\n]/g, ''))
      .filter((text) => !/^:\s*(?:q|l|events)/.test(text)),
    fc.string().map((text) => `:event ${text.replace(/[\r\n]/g, '')}`),
    fc.string().map((text) => `stream ${text.replace(/[\r\n]/g, '')}`),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 30 }), async (lines) => {
      const text = await type(
        ...lines,
        '',
        ':trace off',
        'event Last:',
        '    x: int',
        '',
        'stream End = Last.emit(x: x)',
        '',
        ':event Last { x: 1 }',
      );
      expect(text.trimEnd().split('\n').at(-1)).toBe('[now] End { x: 1 }');
    }),
    { numRuns: 20 },
  );
}, 60_000);

it('refuses an event with an offset, which would not be heeded', async () => {
  expect(await type(...declared, ':event @1h A { x: 5 }', ':event A { x: 6 }')).toMatch(
    /`:event` takes no `@`[\s\S]*:advance[\s\S]*S \{ x: 6 \}/,
  );
});
