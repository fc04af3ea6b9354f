import type { ComponentChildren } from 'preact';
import type { MenuEntry } from '../parts/menu.tsx';
import type { Place } from '../service/location.ts';
import { RaftPage } from './raft.tsx';

export const clusterMenu: readonly MenuEntry[] = [{ label: 'Raft group', parts: [] }];

/** The page of a place on a coordinator; undefined where there is none. */
export function clusterPage({ parts }: Place): ComponentChildren | undefined {
  return parts[0] === undefined ? <RaftPage /> : undefined;
}
