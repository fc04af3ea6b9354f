import type { Body, ModuleText } from './module-text.ts';
import type { Readable } from './typed.ts';

/** Where typed expressions are printed: the module for constants, the function around for temporaries. */
export interface TypedContext {
  readonly module: Pick<ModuleText<never>, 'constant'> & Partial<Pick<ModuleText<never>, 'ownConstant'>>;
  readonly body: Body;
  readonly readable: Readable;
  /** How many expressions the printed one stands in. @default 0 */
  readonly depth?: number;
}
