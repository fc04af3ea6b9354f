import type { Value } from '../../../../shared/events/value.ts';
import type { TreeNode } from '../pattern-tree.ts';
import type { Residual, ResidualFactory } from '../residual.ts';
import { AndResidual } from './and.ts';
import { GroupResidual } from './group.ts';
import { OrResidual } from './or.ts';
import { SequenceResidual } from './sequence.ts';
import { StepResidual } from './step.ts';

/** Makes the residuals of one pattern. `enumerated` is the closure whose elements are numbered; null = none. */
export function residualFactory(enumerated: TreeNode | null): ResidualFactory {
  const factory: ResidualFactory = {
    enumerated,
    begin(node: TreeNode, since: number): Residual {
      switch (node.kind) {
        case 'step':
          return new StepResidual(node, 0, since, node === enumerated);
        case 'sequence':
          return SequenceResidual.begin(node, factory, since);
        case 'and':
          return AndResidual.begin(node, factory, since);
        case 'or':
          return OrResidual.begin(node, factory, since);
        case 'group':
          return GroupResidual.begin(node, factory, since);
      }
    },
    load(node: TreeNode, saved: Value): Residual {
      switch (node.kind) {
        case 'step':
          return StepResidual.load(node, node === enumerated, saved);
        case 'sequence':
          return SequenceResidual.load(node, factory, saved);
        case 'and':
          return AndResidual.load(node, factory, saved);
        case 'or':
          return OrResidual.load(node, factory, saved);
        case 'group':
          return GroupResidual.load(node, factory, saved);
      }
    },
  };
  return factory;
}
