/** Parts of the library that are in its package and have no types there: what they are used for, no more. */

declare module 'kafkajs/src/protocol/encoder.js' {
  export default class Encoder {
    writeInt32(value: number): this;
    writeBoolean(value: boolean): this;
    writeUVarInt(value: number): this;
    writeUVarIntString(value: string): this;
    writeEncoder(value: Encoder): this;
  }
}

declare module 'kafkajs/src/protocol/decoder.js' {
  export default class Decoder {
    constructor(bytes: Buffer);
    readInt16(): number;
    readInt32(): number;
    readInt64(): bigint;
    readUVarInt(): number;
    readUVarIntString(): string | null;
    readUVarIntArray<T>(read: (decoder: Decoder) => T): T[];
    readTaggedFields(): unknown;
  }
}

declare module 'kafkajs/src/protocol/requests/offsetFetch/index.js' {
  interface Asked {
    readonly groupId: string;
    readonly topics: readonly { readonly topic: string; readonly partitions: readonly { readonly partition: number }[] }[];
  }
  interface Question {
    readonly request: { apiKey: number; apiVersion: number; apiName: string; encode(): Promise<unknown> };
    readonly response: { decode(bytes: Buffer): Promise<unknown>; parse(decoded: unknown): Promise<unknown> };
  }
  const requests: { versions: string[]; protocol(of: { version: number }): (asked: Asked) => Question };
  export default requests;
}

declare module 'kafkajs/src/consumer/offsetManager/index.js' {
  export default class OffsetManager {
    setDefaultOffset(of: { readonly topic: string; readonly partition: number }): Promise<void>;
  }
}
