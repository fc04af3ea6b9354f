import { describe, expect, it } from 'vitest';
import { WorkFolder } from './work-folder.ts';

const folder = new WorkFolder();

folder.write('events.evt', '@0 Login { user: "ann", tries: 1, at: null }\nLogin { user: "bob", tries: 1.5 }\n@5s Logout { user: "ann" }\n');

describe('cep infer', () => {
  it('prints declarations', async () => {
    expect(await folder.cep(['infer', '-i', './events.evt'])).toMatchInlineSnapshot(`
      {
        "exitCode": 0,
        "stderr": "",
        "stdout": "event Login:
          at: str?
          tries: float
          user: str

      event Logout:
          user: str

      # Inferred 2 event types from 3 events
      ",
      }
    `);
  });

  it('marks fields that may be missing when asked', async () => {
    expect((await folder.cep(['infer', '-i', './events.evt', '--nullable'])).stdout).toMatch(
      /at: str\?\n {4}tries: float\n {4}user: str\n/,
    );
    folder.write('gaps.jsonl', '{"event_type":"A","n":1}\n{"event_type":"A","data":{"n":2,"s":"x"}}\n');
    expect((await folder.cep(['infer', '-i', './gaps.jsonl', '--nullable'])).stdout).toContain('event A:\n    n: int\n    s: str?\n');
  });

  it('looks at as many events as it is told', async () => {
    const { stdout } = await folder.cep(['infer', '-i', './events.evt', '--sample-size', '1']);
    expect(stdout).toContain('    tries: int\n');
    expect(stdout).toContain('# Inferred 1 event type from 1 event\n');
  });

  it('gives the same as JSON', async () => {
    expect(JSON.parse((await folder.cep(['infer', '-i', './events.evt', '--json'])).stdout)).toMatchInlineSnapshot(`
      {
        "events": 3,
        "types": [
          {
            "fields": [
              {
                "name": "at",
                "nullable": true,
                "type": "str?",
              },
              {
                "name": "tries",
                "nullable": false,
                "type": "float",
              },
              {
                "name": "user",
                "nullable": false,
                "type": "str",
              },
            ],
            "name": "Login",
          },
          {
            "fields": [
              {
                "name": "user",
                "nullable": false,
                "type": "str",
              },
            ],
            "name": "Logout",
          },
        ],
      }
    `);
  });

  it('writes a file', async () => {
    expect(await folder.cep(['infer', '-i', './events.evt', '-o', './events.vpl'])).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(folder.read('events.vpl')).toBe((await folder.cep(['infer', '-i', './events.evt'])).stdout);
  });

  it('says which lines it left out', async () => {
    folder.write('broken.evt', 'A { n: 1 }\nB {\nA { n: 99999999999999999999 }\n');
    const { exitCode, stderr } = await folder.cep(['infer', '-i', './broken.evt']);
    expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/^warning: 2 lines left out, the first is broken\.evt:2:\d+: /)]);
  });

  it.each([
    [['infer'], 1, /--events/],
    [['infer', '-i', './absent.evt'], 2, /^error: event file 'absent\.evt' not found\n$/],
    [['infer', '-i', './events.evt', '--sample-size', '0'], 1, /--sample-size: expected a number of events, 1 or more, found '0'/],
    [['infer', '-i', './events.evt', '--sample-size', '1e3'], 1, /--sample-size/],
    [['infer', '-i', './events.evt', '-o', './no/where.vpl'], 2, /cannot be written: its directory does not exist/],
  ])('refuses %j', async (args, exitCode, stderr) => {
    expect(await folder.cep(args)).toEqual({ exitCode, stdout: '', stderr: expect.stringMatching(stderr) });
  });
});
