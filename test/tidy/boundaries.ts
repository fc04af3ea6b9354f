import type { Import, Source } from './source.ts';

interface LayerRule {
  /** Files whose path begins so. */
  readonly from: string;
  /** Except files whose path begins so. */
  readonly except?: string;
  /** May not import files whose path fits. */
  readonly mayNot: RegExp;
  readonly rule: string;
}

const layers: readonly LayerRule[] = [
  { from: 'shared/', mayNot: /^(worker|coordinator|cli)\//, rule: 'shared depends on nothing of ours' },
  {
    from: 'worker/',
    mayNot: /^(coordinator|cli)\//,
    rule: 'worker and coordinator meet over shared/protocol, and only cli depends on both',
  },
  {
    from: 'coordinator/',
    mayNot: /^(worker|cli)\//,
    rule: 'worker and coordinator meet over shared/protocol, and only cli depends on both',
  },
  { from: 'worker/engine/', mayNot: /^worker\/(?!engine\/)/, rule: 'the engine imports neither runtime, server nor connectors' },
  {
    from: 'worker/connectors/',
    mayNot: /^worker\/(runtime|server|membership)\//,
    rule: 'the runtime uses connectors, they do not know it',
  },
  { from: 'worker/runtime/', mayNot: /^worker\/(server|membership)\//, rule: 'the server uses the runtime, which does not know it' },
  {
    from: 'cli/console/',
    mayNot: /^(worker|coordinator|cli\/(?!console\/))/,
    rule: 'the console runs in browsers, and knows servers by their API alone',
  },
  { from: 'cli/', mayNot: /^cli\/console\//, except: 'cli/console/', rule: 'what runs in browsers is no part of the command line' },
  { from: 'coordinator/raft/core/', mayNot: /^coordinator\/(?!raft\/core\/)/, rule: 'raft/core is a leaf' },
  { from: 'coordinator/state/', mayNot: /^coordinator\/(?!state\/)/, rule: 'the replicated state is a leaf' },
  { from: 'coordinator/placement/', mayNot: /^coordinator\/(?!(placement|state)\/)/, rule: 'placement knows the state only' },
  { from: 'coordinator/scaling/', mayNot: /^coordinator\/(?!(scaling|state)\/)/, rule: 'scaling knows the state only' },
  ...['shared', 'worker', 'coordinator', 'cli'].map((folder) => ({
    from: `${folder}/`,
    mayNot: /^(test|chaos|scripts|docs)\//,
    rule: 'the product does not depend on its tests and tools',
  })),
];

/** Imports that cross a boundary, each as `<file>:<line>: imports '<what>': <rule>`. */
export function boundaryViolations(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, imports }) =>
    imports.flatMap((found) =>
      layers
        .filter(({ from, except, mayNot }) => {
          const isMeant = path.startsWith(from) && (except === undefined || !path.startsWith(except));
          return isMeant && found.target !== undefined && mayNot.test(found.target);
        })
        .map(({ rule }) => importViolation(path, found, rule)),
    ),
  );
}

export function importViolation(path: string, { line, specifier }: Import, rule: string): string {
  return `${path}:${line}: imports '${specifier}': ${rule}`;
}
