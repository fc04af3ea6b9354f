import { useState } from 'preact/hooks';
import { Problem } from '../parts/notice.tsx';
import { Section } from '../parts/page.tsx';
import { href } from '../service/href.ts';
import { goTo } from '../service/location.ts';
import { ask } from '../service/requests.ts';
import type { Diagnostic } from '../service/shapes.ts';

interface DeployProps {
  readonly source: string;
  readonly problems: readonly Diagnostic[] | undefined;
  readonly onDone: () => void;
}

/** A new program becomes a pipeline. */
export function Deploy({ source, problems, onDone }: DeployProps) {
  const [name, setName] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const isWrong = problems?.some(({ severity }) => severity === 'error') ?? false;
  const deploy = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const { id } = await ask<{ id: string }>('/api/v1/pipelines', { method: 'POST', body: { name, source } });
      onDone();
      goTo(href(['pipelines', id]));
    } catch (problem) {
      setError(problem as Error);
      setBusy(false);
    }
  };
  return (
    <Section title="Deploy">
      <form class="filters" onSubmit={(event) => void deploy(event)}>
        <label>
          Name of the pipeline
          <input type="text" required maxLength={128} value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <button type="submit" class="primary" disabled={isBusy || isWrong}>
          Deploy
        </button>
        {isWrong && <p class="quiet">Errors come first.</p>}
      </form>
      <Problem error={error} />
    </Section>
  );
}
