import { useRef, useState } from 'preact/hooks';
import { Fields } from '../parts/fields.tsx';
import { Notice, Problem } from '../parts/notice.tsx';
import { Section } from '../parts/page.tsx';
import { plural, timeText } from '../parts/text.ts';
import { runSample, type SampleProgram } from './run-sample.ts';
import { readSample } from './sample.ts';
import type { SampleResult } from './sample-answers.ts';

const example = `@0s Reading { sensor: "a", value: 20.5 }
@5s Reading { sensor: "b", value: 31.5 }
`;

/** Runs the program in writing on a few events, in a place of its own on the server: nothing that is deployed notices. */
export function SampleRun({ source, files, path }: SampleProgram) {
  const [text, setText] = useState(sessionStorage.getItem('cep.sample') ?? (/\bReading\b/.test(source) ? example : ''));
  const [result, setResult] = useState<SampleResult>();
  const [error, setError] = useState<Error>();
  const [isBusy, setBusy] = useState(false);
  const running = useRef<AbortController | undefined>(undefined);
  const write = (sample: string): void => {
    setText(sample);
    sessionStorage.setItem('cep.sample', sample);
  };
  const run = async (event: Event): Promise<void> => {
    event.preventDefault();
    running.current?.abort();
    const ending = new AbortController();
    running.current = ending;
    setBusy(true);
    setError(undefined);
    setResult(undefined);
    try {
      setResult(await runSample({ program: { source, files, path }, events: readSample(text, Date.now()), signal: ending.signal }));
    } catch (problem) {
      setError(problem as Error);
    }
    setBusy(false);
  };
  return (
    <Section title="Try it on a sample">
      <form class="sample" onSubmit={(event) => void run(event)}>
        <label for="sample-events">Events, one a line: as in an event file, or JSON</label>
        <textarea
          id="sample-events"
          placeholder={example}
          rows={6}
          spellcheck={false}
          value={text}
          onInput={(event) => write(event.currentTarget.value)}
        />
        <button type="submit" disabled={isBusy}>
          Run
        </button>
      </form>
      <Problem error={error} />
      {result !== undefined && <Result of={result} />}
    </Section>
  );
}

function Result({ of: { accepted, alerts, outputs, errors, notes } }: { readonly of: SampleResult }) {
  return (
    <div role="status">
      <p>
        {plural(accepted, 'event')} taken, {plural(alerts, 'alert')}.
      </p>
      {errors.map((error) => (
        <Notice key={error} tone="bad">
          {error}
        </Notice>
      ))}
      {notes.map((note) => (
        <Notice key={note} tone="warn">
          {note}
        </Notice>
      ))}
      <ul class="rows">
        {outputs.map(({ stream, event_type: type, timestamp, data }, at) => (
          <li key={at}>
            <span class="quiet">{timeText(timestamp)}</span> <strong>{type}</strong>{' '}
            {stream !== type && <span class="quiet">{stream}</span>} <Fields of={data} />
          </li>
        ))}
      </ul>
    </div>
  );
}
