import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { program } from '../support/transports/carriers/installed.js';
import { onFreePorts } from '../support/transports/carriers/loopback.js';
import { peerFolder, removeFolder } from '../support/transports/carriers/peer-folder.js';
import { PeerProcess } from '../support/transports/carriers/peer-process.js';

/** The answer to a query: the number of its series. */
export interface QueryResult {
  readonly status: 'success' | 'error';
  readonly error?: string;
  readonly data?: { readonly result: readonly { readonly value: readonly [number, string] }[] };
}

/** A Prometheus that belongs to the test and scrapes one application every second. */
export class OwnPrometheus {
  private constructor(
    private readonly process: PeerProcess,
    private readonly folder: string,
    private readonly url: string,
  ) {}

  /** @param target the application's `host:port` */
  static start(target: string, path: string, secret: string, rules: string): Promise<OwnPrometheus> {
    return onFreePorts(1, async (host, [port = 0]) => {
      const folder = peerFolder('prometheus');
      const config = join(folder, 'prometheus.yml');
      // Every JSON document is also YAML.
      const scrape = {
        job_name: 'messaging',
        metrics_path: path,
        authorization: { type: 'Bearer', credentials: secret },
        static_configs: [{ targets: [target] }],
      };
      const global = { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' };
      writeFileSync(config, JSON.stringify({ global, rule_files: [rules], scrape_configs: [scrape] }));
      const args = [`--config.file=${config}`, `--storage.tsdb.path=${folder}`, `--web.listen-address=${host}:${port}`];
      const url = `http://${host}:${port}`;
      const process = new PeerProcess(program('prometheus'), args, { folder });
      const own = new OwnPrometheus(process, folder, url);
      try {
        await process.ready(() => own.isReady());
        return own;
      } catch (error) {
        await own.close();
        throw error;
      }
    });
  }

  async query(expr: string): Promise<QueryResult> {
    const answer = await fetch(`${this.url}/api/v1/query?query=${encodeURIComponent(expr)}`);
    return JSON.parse(await answer.text());
  }

  /** The values of an expression. */
  async values(expr: string): Promise<number[]> {
    const { data } = await this.query(expr);
    return (data?.result ?? []).map(({ value }) => Number(value[1]));
  }

  async close(): Promise<void> {
    await this.process.stop();
    removeFolder(this.folder);
  }

  private async isReady(): Promise<boolean> {
    return fetch(`${this.url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}
