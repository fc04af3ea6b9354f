import { expect, test } from 'vitest';
import { checkText, problems } from './checking.ts';

const PROGRAM = `event Login: user: str
stream Alerts = Login.emit(user: user)
stream Typed = Login.emit as Suspicion (user: user)
stream Loose = Ping.emit()
`;

test('a test becomes steps of virtual time with constant fields', () => {
  const { tests } = checkText(
    `${PROGRAM}const WHO = "ann"
test "one":
    at 5s Login { user: WHO }
    at 6s Ping
    expect Alerts { user: "ann" } once
    advance 10m
    expect no Suspicion
    expect Login
`.replace('    expect Login\n', ''),
  );
  expect(tests.map(({ name, steps }) => [name, ...steps.map(({ origin: _, ...step }) => step)])).toEqual([
    [
      'one',
      { kind: 'event', atMs: 5000, type: 'Login', fields: new Map([['user', 'ann']]) },
      { kind: 'event', atMs: 6000, type: 'Ping', fields: new Map() },
      { kind: 'expect', output: 'Alerts', fields: new Map([['user', 'ann']]), count: 1 },
      { kind: 'advance', byMs: 600_000 },
      { kind: 'expect', output: 'Suspicion', fields: new Map(), count: 0 },
    ],
  ]);
});

test('unknown events and streams, open times and open values are refused', () => {
  expect(
    problems(`event Login: user: str
stream Alerts = Login.emit(user: user)
test "t":
    at 5 Login { user: user }
    at 5s Logn {}
    expect Alert
    advance x
`),
  ).toMatchInlineSnapshot(`
    "4:8 E061 a duration is needed here, not int (write a unit: 5s, 5m)
    4:24 E034 unknown name \`user\`
    5:11 E033 the program knows no event \`Logn\` (did you mean \`Login\`?)
    6:12 E033 the program has no stream \`Alert\` (did you mean \`Alerts\`?)
    7:13 E034 unknown name \`x\`"
  `);
});

test('what no output has, and what no event declares, is said', () => {
  const program = `event Login: user: str, n: int
stream Alerts = Login.emit(user: user, n: n)
stream Loose = Login.emit()
`;
  expect(
    problems(`${program}test "one":
    at 0s Login { usr: "ann", n: 1, timestamp: 5 }
    expect no Alerts { usr: "ann" }
    expect no Alerts { n: "1" }
    expect no Alerts { user: 5 }
    expect Alerts { user: null, n: 1.5 }
    expect Loose { more: "x" }
test "one":
    expect no Alerts
`),
  ).toMatchInlineSnapshot(`
    "5:19 W052 event \`Login\` declares no field \`usr\` (did you mean \`user\`?)
    6:24 E034 the outputs of \`Alerts\` have no field \`usr\` (did you mean \`user\`?)
    7:27 E062 \`n\` of \`Alerts\` is int, never this value
    8:30 E062 \`user\` of \`Alerts\` is str, never this value
    11:6 E007 the test \`one\` is declared twice, first in line 4"
  `);
});
