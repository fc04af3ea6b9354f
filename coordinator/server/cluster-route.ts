import { type Route, routeMaker } from '../../shared/http/route.ts';

/** Who asks a coordinator: whoever has its key, or anybody while it has none. */
export interface Operator {
  readonly name: string;
}

/** Declares a route of a coordinator. */
export const clusterRoute = routeMaker<Operator>();
export type ClusterRoute = Route<Operator>;

export const clusterPath = '/api/v1/cluster';
