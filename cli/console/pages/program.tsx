import { Section, Wide } from '../parts/page.tsx';
import { href } from '../service/href.ts';
import type { Pipeline } from '../service/shapes.ts';

/** The text that runs, with what it imports. */
export function ProgramView({ pipeline }: { readonly pipeline: Pipeline }) {
  const { id, source, files = {}, path = 'program.vpl', version } = pipeline;
  const all = [[path, source], ...Object.entries(files)] as const;
  return (
    <>
      {all.map(([name, text]) => (
        <Section key={name} title={name} aside={name === path && <a href={href(['pipelines', id, 'edit'])}>Edit version {version}</a>}>
          <Wide label={name}>
            <pre class="program">
              <code>{text}</code>
            </pre>
          </Wide>
        </Section>
      ))}
    </>
  );
}
