import { brotliDecompressSync, gzipSync } from 'node:zlib';
import { once } from '../common/concurrency/once.js';
import { readAsset } from './asset.js';

/** The encodings that an answer may have, the best one first. */
const ENCODINGS = ['br', 'gzip'] as const;

/** A file in every encoding. */
export interface DashboardFile {
  readonly type: string;
  readonly br: Buffer;
  readonly gzip: Buffer;
  readonly identity: Buffer;
}

/** The built application. */
export interface DashboardFiles {
  /** The names of the script and of the style sheet that the page loads first. */
  readonly script: string;
  readonly style: string;
  readonly files: ReadonlyMap<string, DashboardFile>;
}

/** Reads the application into memory when it is first called. */
export const dashboardFiles = once((): DashboardFiles => {
  const { script, style, files } = manifest();
  const read = ([name, type]: [string, string]): [string, DashboardFile] => {
    const br = readAsset(`${name}.br`);
    const identity = brotliDecompressSync(br);
    // The files are compressed here, which takes 7 ms for all of them. If the package had both encodings, it would be 0.1 MB
    // larger.
    return [name, { type, br, gzip: gzipSync(identity, { level: 9 }), identity }];
  };
  return { script, style, files: new Map(Object.entries(files).map(read)) };
});

function manifest(): Record<'script' | 'style', string> & { files: Record<string, string> } {
  return JSON.parse(readAsset('manifest.json').toString());
}

/**
 * Returns the encoding of a file that a client accepts (RFC 9110 section 12.5.3).
 * @param accepted the header `Accept-Encoding`
 */
export function packed(file: DashboardFile, accepted: string): readonly [encoding: string | undefined, bytes: Buffer] {
  const weights = accepted.split(',').map((each) => {
    const [name = '', weight = ''] = each
      .trim()
      .toLowerCase()
      .split(/\s*;\s*q\s*=\s*/);
    return [name, weight === '' ? 1 : Number(weight)] as const;
  });
  const takes = (encoding: string): boolean => {
    const [, weight] = weights.find(([name]) => name === encoding) ?? weights.find(([name]) => name === '*') ?? ['', 0];
    return weight > 0;
  };
  const encoding = ENCODINGS.find(takes);
  return encoding === undefined ? [undefined, file.identity] : [encoding, file[encoding]];
}
