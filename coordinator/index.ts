/** The control plane: a member of a group of coordinators that agrees on the state of the cluster, and serves it. */
export { memberUrl } from './cluster/raft-address.ts';
export { type RunningCoordinator, type StartCoordinatorOptions, startCoordinator } from './server/start-coordinator.ts';
export { LATEST_FORMAT } from './state/format.ts';
