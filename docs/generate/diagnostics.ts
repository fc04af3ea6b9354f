import { check } from '../../shared/language/checker/check.ts';
import { CODES, type CodeDescriptor } from '../../shared/language/diagnostics/codes.ts';
import { SourceText } from '../../shared/language/diagnostics/diagnostic.ts';
import { renderDiagnostic } from '../../shared/language/diagnostics/render.ts';
import { fence, page, sentence, table } from './markdown.ts';

/** `docs/language/diagnostics.md`: every code with a program that gets it, what is said, and the program put right. */
export function diagnosticsPage(): string {
  const entries: readonly (readonly [string, CodeDescriptor])[] = Object.entries(CODES).sort(([a], [b]) => (a < b ? -1 : 1));
  return page({
    title: 'Diagnostics',
    source: 'shared/language/diagnostics/codes',
    blocks: [
      'What `cep check` finds. A code never changes its meaning. With an error (`E`) a program does not run; a warning (`W`) says what may not ' +
        'be meant. All problems of a file are reported at once, each with its place, an excerpt and, where there is one, a hint.',
      ...(['error', 'warning'] as const).flatMap((severity) => {
        const own = entries.filter(([, descriptor]) => descriptor.severity === severity);
        return [
          severity === 'error' ? '## Errors' : '## Warnings',
          table(
            ['code', 'about'],
            own.map(([code, { title }]) => [`[${code}](#${code.toLowerCase()})`, sentence(title)]),
          ),
          ...own.flatMap(codeBlocks),
        ];
      }),
    ],
  });
}

function codeBlocks([code, { severity, title, explanation, example, fix }]: readonly [string, CodeDescriptor]): string[] {
  return [
    `### ${code}`,
    `**${sentence(title)}** ${explanation}`,
    fence(`vpl ${severity}=${code}`, example),
    'The checker says:',
    fence('text', diagnosed(example)),
    'Put right:',
    fence('vpl', fix),
  ];
}

/** What is said of a program by a checker that has no runtime for models. */
function diagnosed(program: string): string {
  const { diagnostics } = check(new SourceText('rules.vpl', program), {
    canScore: () => false,
    canConnect: (type: string) => type !== 'nats',
  });
  return diagnostics.map(renderDiagnostic).join('\n\n');
}
