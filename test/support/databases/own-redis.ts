import { createClient } from 'redis';
import { listens } from '../common/listens.js';
import { hasPeer, program } from '../transports/carriers/installed.js';
import { onFreePorts } from '../transports/carriers/loopback.js';
import { peerFolder, removeFolder } from '../transports/carriers/peer-folder.js';
import { PeerProcess } from '../transports/carriers/peer-process.js';

/** Whether Redis is available here. */
export const hasRedis = (): boolean => hasPeer('Redis', 'redis-server', ['redis-server', 'setpriv']);

/** A Redis of the test's own, on an address and a free port of its own, which may be stopped, frozen and started again. */
export class OwnRedis {
  private process: PeerProcess | undefined;

  /** @param isCluster whether it is a cluster of one node */
  static start(isCluster = false): Promise<OwnRedis> {
    return onFreePorts(1, async (host, [port = 0]) => {
      const redis = new OwnRedis(peerFolder('redis'), host, port, isCluster);
      try {
        await redis.start();
      } catch (error) {
        await redis.close();
        throw error;
      }
      return redis;
    });
  }

  private constructor(
    private readonly folder: string,
    private readonly host: string,
    private readonly port: number,
    private readonly isCluster: boolean,
  ) {}

  get url(): string {
    return `redis://${this.host}:${this.port}`;
  }

  async start(): Promise<void> {
    const cluster = this.isCluster ? ['--cluster-enabled', 'yes', '--cluster-announce-ip', this.host] : [];
    const settings = ['--bind', this.host, '--port', String(this.port), '--save', '', '--appendonly', 'no', ...cluster];
    const started = new PeerProcess(program('redis-server'), settings, { folder: this.folder });
    this.process = started;
    await started.ready(() => listens(this.port, this.host));
  }

  /** How many processes listen for notices. */
  async listeners(): Promise<number> {
    const channel = 'nestjs-messaging';
    const client = await createClient({ url: this.url }).connect();
    const { [channel]: count } = await client.pubSubNumSub(channel);
    client.destroy();
    return count ?? 0;
  }

  async flush(): Promise<void> {
    const client = await createClient({ url: this.url }).connect();
    await client.flushAll();
    client.destroy();
  }

  /** Answers nobody, until it may continue. */
  freeze(): void {
    this.process?.signal('SIGSTOP');
  }

  goOn(): void {
    this.process?.signal('SIGCONT');
  }

  async stop(): Promise<void> {
    await this.process?.stop();
  }

  async close(): Promise<void> {
    await this.stop();
    removeFolder(this.folder);
  }
}
