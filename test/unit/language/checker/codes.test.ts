import { describe, expect, test } from 'vitest';
import { CODES, type CodeDescriptor } from '../../../../shared/language/diagnostics/codes.ts';
import { checkText, printed } from './checking.ts';

const table: readonly (readonly [string, CodeDescriptor])[] = Object.entries(CODES);

/** A host without a runtime for models: the only code that no program gets by itself. */
const options = { canScore: () => false, canConnect: (type: string) => type !== 'nats' };

describe('every diagnostic code', () => {
  test('has a letter that says its severity', () => {
    for (const [code, { severity }] of table) expect(code).toMatch(severity === 'error' ? /^E\d{3}$/ : /^W\d{3}$/);
  });

  test.each(table)('%s: its example gets it and no other', (code, { example }) => {
    const { diagnostics, plan } = checkText(example, {}, options);
    expect([...new Set(diagnostics.map((diagnostic) => diagnostic.code))]).toEqual([code]);
    expect(plan === null).toBe(code.startsWith('E'));
  });

  test.each(table)('%s: the fix of its example gets no diagnostic', (_, { fix }) => {
    const { diagnostics, plan } = checkText(fix, {}, options);
    expect(diagnostics.map(printed)).toEqual([]);
    expect(plan).not.toBeNull();
  });

  test('says what is wrong with its example, and what to write', () => {
    const said = table.flatMap(([, { example }]) => checkText(example, {}, options).diagnostics.map(printed));
    expect(said.join('\n')).toMatchInlineSnapshot(`
      "5:37 E000 unexpected \`)\`; expected an expression
      5:7 E001 the event or type \`Login\` is declared twice, first in line 1
      6:8 E002 the stream \`Seen\` is declared twice, first in line 5
      6:4 E003 the function \`often\` is declared twice, first in line 5
      6:11 E004 the connector \`Log\` is declared twice, first in line 5
      6:9 E005 the context \`hot\` is declared twice, first in line 5
      6:9 E006 the pattern \`Twice\` is declared twice, first in line 5
      6:5 E007 the constant or variable \`LIMIT\` is declared twice, first in line 5
      5:8 E008 streams depend on each other: \`Seen\` needs \`SeenOften\` needs \`Seen\` (a stream may feed itself only through a connector)
      1:8 E093 WebAssembly modules cannot be imported (write the function in the language with \`fn\`)
      5:10 E095 a compile-time \`for\` goes over at most 10000 values, not 100000
      1:8 E097 the file \`missing.vpl\` cannot be read (the path is relative to the file that the import stands in)
      6:24 E030 no connector \`Logs\` is declared (did you mean \`Log\`?)
      5:29 E031 no context \`hot\` is declared (declare it: \`context hot (cores: [0])\`)
      6:26 E032 connector \`Log\` is of type console, which gives no events (\`.from\`) (types that can: kafka, nats, mqtt, redis, http, file, websocket, syslog)
      5:26 E033 \`AdminLogin\` extends the unknown event \`Logins\` (did you mean \`Login\`?)
      5:27 E034 unknown name \`attemps\`: event \`Login\` has no such field (did you mean \`attempts\`?)
      5:49 E035 unknown alias \`c\` (the aliases here: \`b\`, \`a\`)
      5:27 E050 unknown function \`uper\` (did you mean \`upper\`?)
      4:51 E070 unknown aggregate \`sums\` (did you mean \`sum\`?)
      4:34 E080 \`.window\` has no parameter \`hop\` (it takes \`size\`, \`sliding\`, \`slide\`, \`session\`, \`offset\`, \`align\`, \`early\`, \`policy\`)
      5:21 E091 there is no operator \`.wher\` (did you mean \`.where\`?)
      5:17 E094 there is no connector type \`konsole\` (did you mean \`console\`? known types: kafka, nats, mqtt, redis, http, file, console, websocket, postgres, mysql, database, syslog, smtp)
      5:5 E010 \`.having\` stands before the \`.aggregate\` whose results it reads (write it behind \`.aggregate\`, or write \`.where\`)
      6:5 E011 this stream has an aggregate already (continue in a stream of its own: \`stream Next = This.aggregate(..)\`)
      4:33 E012 this stream has a window already (continue in a stream of its own: \`stream Next = This.window(..)\`)
      5:20 E020 \`.within\` needs a pattern, and this source is none (write a pattern (\`A as a -> B as b .within(10s)\`), or \`.window(10s)\`)
      8:5 E021 \`.stam()\` and \`.subsets()\` exclude each other (it branches for closures already, so that every subset comes: leave \`.subsets()\` out)
      5:34 E092 a pattern of steps cannot stand in \`.pattern\` (write it as the source of a stream: \`stream S = Login as a -> Login as b\`)
      7:5 E040 \`seen\` is declared with let and cannot be assigned (declare it with var)
      5:27 E051 \`starts_with\` takes 2 arguments, not 1
      5:27 E052 invalid regular expression: missing closing ): \`(ann\`
      5:27 E060 a condition is a bool, not int
      5:42 E061 a duration is needed here, not int (write a unit: 60s, 60m)
      5:27 E062 int and str are never equal (\`==\`) (convert with to_string(x), to_int(x) or to_float(x))
      4:50 E071 \`percentile\` takes 2 arguments, not 1
      4:51 E072 \`sum\` takes float or duration as \`e\`, not str
      4:51 E073 \`amount\` is a field of each event, not of the aggregate (write last(amount), or make it a key with .partition_by(amount))
      4:27 E081 \`count\` must be a whole number of at least 1
      4:37 E082 this value needs a name (write name: amount * 2)
      9:28 E096 \`note\` emits events, so only \`.process\` can call it (write .process(note(..)))
      4:22 W001 without a window the aggregate runs over everything so far (put \`.window(..)\` before it if that is not meant)
      4:33 W002 \`.partition_by\` stands behind \`.window\`, which it keys (write it before \`.window\`)
      5:15 W003 nothing bounds this pattern in time, so its runs are kept until they match (add \`.within(10m)\`)
      1:15 W030 event type \`Login\` is not declared (declare it: \`event Login:\` with its fields)
      5:29 W031 event type \`Suspicion\` is not declared (declare it: \`event Suspicion:\` with these fields)
      6:20 W032 without \`fields:\` every field of the answer is added, of type any (name them: \`fields: [a, b]\`)
      6:27 W034 \`attempts\` is a field of event \`Login\` here, not the program's value of that name (rename one of the two)
      4:41 W035 without a bare field in this comparison, \`b\` is the event being looked at, not the previous capture (write the field bare, without \`b.\`)
      7:16 W036 \`Suspicion\` is emitted by stream \`Seen\`, whose results reach only streams that name \`Seen\` (write \`Seen\` to read them; \`Suspicion\` reads events from outside)
      7:15 W037 the join has no window: partners may be up to 1m apart (write \`.window(1m)\` to say how far)
      5:8 W038 \`config engine\` has no effect on the program (settings stand in the configuration file)
      6:31 W039 this build cannot send to connectors of type nats: a server refuses the program (it can for types kafka, mqtt, redis, http, file, console, websocket, postgres, mysql, database, syslog, smtp)
      5:8 W040 nothing reads the stream \`Often\` (add .emit(..) to make its results output events)
      6:20 W041 no topic is given: the name of the stream, "Seen", is used (write \`topic: "Seen"\`)
      5:42 W042 \`now()\` is the time of the current event or result, not the clock of the machine (write \`timestamp\` to say so)
      5:20 W043 there is no aggregate here, so \`.having\` means \`.where\` (write \`.where\`)
      5:22 W047 this build cannot run the model "m.onnx" (the program is checked all the same; loading it needs the runtime and the model)
      9:5 W048 \`Payment\` is also the last step: it cancels the run or completes it (for a timeout write \`-> NOT Payment within d\`)
      7:45 W049 the pattern is complete without its last step, which therefore never captures (leave it out, or make it a step that must come)
      7:30 W050 \`Activity\` gives a row of the very \`Logout\` before it too, which comes right behind it and ends the run at once (begin with the stream itself, \`Activity where .. as a\`, or leave \`Logout\` out of \`Activity\`; if this row is meant, nothing is wrong)
      5:74 W051 \`n\` is never 0 here: an empty window gives no result (what did not happen is a pattern: \`Login as a -> NOT Login where .. within 5m\`)
      7:19 W052 event \`Login\` declares no field \`usr\` (did you mean \`user\`?)
      7:5 W053 \`.longest()\` says how a closure gives its matches, and this pattern has none (leave it out, or let a step repeat: \`X+\`)
      5:70 W054 \`Table\` keeps the event's own \`id\` in the column of that name, and the field in \`data\` alone, if the table has it (give it another name, as in \`.emit(own_id: id)\`)"
    `);
  });
});
