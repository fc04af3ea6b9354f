import type { Group, GroupPipeline } from '../state/cluster-state.ts';

/** What it means for pipelines of a group that their events are divided otherwise: state and places of sources stay where they are. */
export function divisionWarnings({ pipelines: before }: Pick<Group, 'pipelines'>, after: readonly GroupPipeline[]): readonly string[] {
  return after.flatMap((pipeline) => {
    const was = before.find(({ name }) => name === pipeline.name);
    if (was === undefined || isDividedAlike(was, pipeline)) return [];
    return [
      `pipeline '${pipeline.name}' was ${divisionText(was)}, and is ${divisionText(pipeline)}: keys that change hands begin without state. ` +
        'Of sources other than Kafka, events of these keys are seen by both replicas for 3 s, and may be seen by none where a replica is behind with reading',
    ];
  });
}

function isDividedAlike(one: GroupPipeline, other: GroupPipeline): boolean {
  return one.replicas === other.replicas && (one.replicas === 1 || one.partitionKey === other.partitionKey);
}

function divisionText({ replicas, partitionKey }: GroupPipeline): string {
  return replicas === 1 ? 'one replica' : `${replicas} replicas by '${partitionKey}'`;
}
