import { FLOAT } from '../plan/types.ts';
import { always, defineFunction, number } from './define.ts';
import type { FunctionDescriptor } from './descriptor.ts';

/** The mean radius of the Earth (IUGG), in metres. The great circle over such a sphere is within 0.6 % of the true distance. */
const EARTH_RADIUS_M = 6_371_008.8;

const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** The haversine formula: exact for near points, where the law of cosines loses its digits. */
function haversine(lat1: number, lon1: number, lat2: number, lon2: number): number {
  const halfChord =
    Math.sin(radians(lat2 - lat1) / 2) ** 2 + Math.cos(radians(lat1)) * Math.cos(radians(lat2)) * Math.sin(radians(lon2 - lon1) / 2) ** 2;
  return 2 * EARTH_RADIUS_M * Math.asin(Math.min(1, Math.sqrt(halfChord)));
}

const isLatitude = (degrees: number): boolean => Math.abs(degrees) <= 90;
const isLongitude = (degrees: number): boolean => Math.abs(degrees) <= 360;

const geoDistance = defineFunction({
  name: 'geo_distance',
  category: 'geo',
  parameters: [number('lat1'), number('lon1'), number('lat2'), number('lon2')],
  result: always(FLOAT),
  summary:
    'Metres between two points given in degrees, along the great circle of a sphere of radius 6,371,008.8 m (haversine). Null when a latitude is outside +-90 or a longitude outside +-360.',
  examples: [
    { code: 'round(geo_distance(48.8566, 2.3522, 51.5074, -0.1278))', result: '343557' },
    { code: 'geo_distance(10, 20, 10, 20)', result: '0' },
    { code: 'geo_distance(91, 0, 0, 0)', result: 'null' },
  ],
  evaluate: (lat1, lon1, lat2, lon2) => {
    const valid = isLatitude(lat1) && isLatitude(lat2) && isLongitude(lon1) && isLongitude(lon2);
    return valid ? haversine(lat1, lon1, lat2, lon2) : null;
  },
});

export const geoFunctions: readonly FunctionDescriptor[] = [geoDistance];
