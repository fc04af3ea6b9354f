import type { BrokerBench } from './broker-bench.ts';
import { databaseBenches } from './database-benches.ts';
import { kafkaBench } from './kafka-bench.ts';
import { mqttBench } from './mqtt-bench.ts';
import { natsBench } from './nats-bench.ts';
import { redisBench } from './redis-bench.ts';

export const brokerBenches: readonly BrokerBench[] = [kafkaBench, natsBench, mqttBench, redisBench, ...databaseBenches];
