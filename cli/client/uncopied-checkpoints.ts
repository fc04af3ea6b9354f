/** Placements whose checkpoints are on too few members once the group has changed: whoever removes the next member takes the last copy away. */
export function uncopiedWarning(placements: readonly string[], members: string): string {
  return (
    `warning: the newest checkpoints of ${placements.join(', ')} are on too few of ${members}, and cannot be copied now: ` +
    'another member may be the last that has them, so keep the data directories of all, removed ones too, and bring back those that are down'
  );
}
