import { useEffect, useRef, useState } from 'preact/hooks';
import { Notice } from '../parts/notice.tsx';
import { Page, Section } from '../parts/page.tsx';
import { agoText, plural } from '../parts/text.ts';
import { href } from '../service/href.ts';
import type { Diagnostic, Pipeline } from '../service/shapes.ts';
import { CodeEditor, type EditorHandle } from './code-editor.tsx';
import { Deploy } from './deploy.tsx';
import { type Base, Draft } from './draft.ts';
import { Reload } from './reload.tsx';
import { SampleRun } from './sample-run.tsx';

export interface WorkbenchProps {
  /** What is changed; undefined for a new one. */
  readonly pipeline: Pipeline | undefined;
  readonly onChanged?: () => void;
}

const first = `event Reading:
    sensor: str
    value: float

stream Hot = Reading
    .where(value > 30)
    .emit(sensor: sensor, value: value)
`;

/** A program in writing: what is wrong with it, what it does with a sample, and how it comes to run. */
export function Workbench({ pipeline, onChanged }: WorkbenchProps) {
  const draft = useRef(new Draft(pipeline?.id)).current;
  const [base, setBase] = useState<Base | undefined>(pipeline && draft.base(pipeline));
  const [source, setSource] = useState(draft.text ?? pipeline?.source ?? first);
  const [problems, setProblems] = useState<readonly Diagnostic[]>();
  const editor = useRef<EditorHandle>(null);
  const isChanged = base === undefined ? source !== first : source !== base.source;
  useLeaveWarning(isChanged);
  const write = (text: string): void => {
    setSource(text);
    draft.keep(text, base);
  };
  const begin = (from: Base, text: string): void => {
    setBase(from);
    setSource(text);
    editor.current?.replace(text);
    draft.keep(text, from);
  };
  const title = pipeline === undefined ? 'New program' : `Edit ${pipeline.name}`;
  return (
    <Page title={title} aside={pipeline && <a href={href(['pipelines', pipeline.id])}>Back to the pipeline</a>}>
      {pipeline && base && pipeline.version !== base.version && (
        <SomebodyElse pipeline={pipeline} base={base} isChanged={isChanged} begin={(text) => begin(pipeline, text)} source={source} />
      )}
      <CodeEditor
        ref={editor}
        initial={source}
        files={pipeline?.files}
        path={pipeline?.path}
        label="Program"
        onChange={write}
        onProblems={setProblems}
      />
      <Problems of={problems} onChoose={(problem) => editor.current?.show(problem)} />
      {pipeline === undefined || base === undefined ? (
        <Deploy source={source} problems={problems} onDone={() => draft.forget()} />
      ) : (
        <Reload
          pipeline={pipeline}
          base={base}
          source={source}
          isChanged={isChanged}
          onDone={(version) => {
            setBase({ version, source });
            draft.forget();
            onChanged?.();
          }}
          onConflict={() => onChanged?.()}
        />
      )}
      <SampleRun source={source} files={pipeline?.files} path={pipeline?.path} />
    </Page>
  );
}

function useLeaveWarning(isChanged: boolean): void {
  useEffect(() => {
    if (!isChanged) return;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [isChanged]);
}

interface SomebodyElseProps {
  readonly pipeline: Pipeline;
  readonly base: Base;
  readonly source: string;
  readonly isChanged: boolean;
  /** Goes on from the version that runs now, with this text. */
  readonly begin: (text: string) => void;
}

/** Two people who edit one pipeline are told of each other before either one's work is lost. */
function SomebodyElse({ pipeline, base, source, isChanged, begin }: SomebodyElseProps) {
  return (
    <Notice tone="warn">
      <strong>Somebody else has changed this pipeline</strong> {agoText(pipeline.updated_at)}: it runs version {pipeline.version}, and your
      text was made from version {base.version}.
      <details>
        <summary>What runs now</summary>
        <pre class="program">
          <code>{pipeline.source}</code>
        </pre>
      </details>
      <div class="buttons">
        <button type="button" onClick={() => begin(pipeline.source)}>
          Take theirs{isChanged ? ', drop mine' : ''}
        </button>
        {isChanged && (
          <button type="button" onClick={() => begin(source)}>
            I have seen it: mine replaces theirs
          </button>
        )}
      </div>
    </Notice>
  );
}

interface ProblemsProps {
  readonly of: readonly Diagnostic[] | undefined;
  readonly onChoose: (problem: Diagnostic) => void;
}

function Problems({ of: problems, onChoose }: ProblemsProps) {
  if (problems === undefined) return <p class="quiet">Not checked yet.</p>;
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const text =
    problems.length === 0
      ? 'The program is right'
      : [errors > 0 && plural(errors, 'error'), problems.length > errors && plural(problems.length - errors, 'warning')]
          .filter(Boolean)
          .join(', ');
  return (
    <Section title={text}>
      <ul class="problems">
        {problems.map((problem) => (
          <li key={`${problem.line}:${problem.column} ${problem.code}`} class={problem.severity === 'error' ? 'bad' : 'warn'}>
            <button type="button" class="plain" onClick={() => onChoose(problem)}>
              <strong>
                {problem.file !== undefined && `${problem.file}, `}
                {problem.line}:{problem.column}
              </strong>
              <span>
                {problem.message} <span class="quiet">{problem.code}</span>
                {problem.hint !== undefined && <span class="hint"> {problem.hint}</span>}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Section>
  );
}
