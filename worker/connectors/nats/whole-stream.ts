import type { ConsumerInfo, StreamInfo } from 'nats';

type Of<T extends { readonly config: object }, K extends keyof T['config']> = { readonly config: Partial<Pick<T['config'], K>> };

/** Whether the consumer is given all that the stream has: one that the program names may have been made by others, for some subjects. */
export function isWhole(
  { config: { subjects = [] } }: Of<StreamInfo, 'subjects'>,
  { config }: Of<ConsumerInfo, 'filter_subject' | 'filter_subjects'>,
): boolean {
  const { filter_subject: one, filter_subjects: several = [] } = config;
  return several.length === 0 && (!one || one === '>' || (subjects.length === 1 && subjects[0] === one));
}
