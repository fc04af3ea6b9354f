import S3rver from 's3rver';

export const bucketName = 'checkpoints';
/** Key and secret of whoever may use the bucket. */
export const login = 'S3RVER';

export interface BucketServer {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  close(): Promise<void>;
}

/** A service with one bucket, whose objects are kept in a folder. */
export async function startBucketServer(directory: string): Promise<BucketServer> {
  const options = { address: '127.0.0.1', port: 0, silent: true, vhostBuckets: false, configureBuckets: [{ name: bucketName }] };
  const server = new S3rver({ ...options, directory });
  const { port } = await server.run();
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
