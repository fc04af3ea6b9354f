/// <reference path="./kafkajs-protocol.d.ts" />

/**
 * Teaches the library to say that the place where it reads a partition is not there. By itself it goes on from the first or the last message,
 * tells the group so, and nobody hears of it.
 */
async function addRefusal(): Promise<void> {
  const { KafkaJSNonRetriableError } = (await import('kafkajs')).default;
  const { default: OffsetManager } = await import('kafkajs/src/consumer/offsetManager/index.js');
  OffsetManager.prototype.setDefaultOffset = async ({ topic, partition }) => {
    throw new KafkaJSNonRetriableError(`partition ${partition} of '${topic}' does not have the place to go on from`);
  };
}

let adding: Promise<void> | undefined;

/** From now on a consumer ends where the place of a partition is not there: whoever reads sees what has become of it, and begins anew. */
export async function sayLostPlaces(): Promise<void> {
  adding ??= addRefusal();
  await adding;
}
