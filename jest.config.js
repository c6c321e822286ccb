import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** The entries of the package, each with its source file, as TypeScript finds them. */
const { paths } = JSON.parse(readFileSync(new URL('tsconfig.json', import.meta.url), 'utf8')).compilerOptions;
const entries = Object.entries(paths).map(([name, [file]]) => [`^${name}$`, file.replace('./', '<rootDir>/')]);

const common = {
  testEnvironment: '<rootDir>/test/support/jest/environment.mjs',
  runtime: '<rootDir>/test/support/jest/runtime.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^fast-check$': '<rootDir>/test/support/jest/seeded-fast-check.ts',
    ...Object.fromEntries(entries),
    // Not `x.json.js`: that is a module of its own (libphonenumber's metadata).
    '^(\\.{1,2}/(?!.*\\.json\\.js$).*)\\.js$': '$1',
  },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
        },
        module: { type: 'es6' },
      },
    ],
  },
};

/** What an end-to-end suite stores and logs is scanned for secrets. */
const scanned = {
  testEnvironment: '<rootDir>/test/support/jest/leak-environment.mjs',
  setupFilesAfterEnv: ['<rootDir>/test/support/jest/leak-scan.ts', '<rootDir>/test/support/jest/ready-schema.ts'],
};

/** End-to-end suites that look at pages in Chromium. */
const IN_BROWSER = '/test/e2e/(dashboard/[^/]+|[^/]+/[^/]+-browser)\\.test\\.ts$';

export default {
  globalSetup: '<rootDir>/test/support/jest/seed.mjs',
  testSequencer: '<rootDir>/test/support/jest/sequencer.mjs',
  // More than `PATIENCE_MS` of test/support/common/until.ts: what a test waits for in vain is told by the one who waits.
  testTimeout: 120_000,
  // In one process all suites share a heap that only grows: each module graph of ES modules stays for good.
  // More of them than processors, as many a suite waits for processes and timers. A number: Jest takes '150%' for 150.
  maxWorkers: Math.ceil(1.5 * availableParallelism()),
  workerIdleMemoryLimit: '1GB',
  projects: [
    ...['unit', 'services', 'carriers', 'torture', 'observability'].map((name) => ({
      ...common,
      displayName: name,
      testMatch: [`<rootDir>/test/${name}/**/*.test.ts`],
    })),
    {
      ...{ ...common, ...scanned, displayName: 'e2e' },
      testMatch: ['<rootDir>/test/e2e/**/*.test.ts'],
      testPathIgnorePatterns: [IN_BROWSER],
    },
    { ...common, ...scanned, displayName: 'browser', testRegex: IN_BROWSER },
    // What needs a program of the machine: curl, Python, PHP.
    { ...common, ...scanned, displayName: 'programs', testMatch: ['<rootDir>/test/programs/*.test.ts'] },
    // The requests of these suites that a client can make, by the client.
    {
      ...common,
      displayName: 'client',
      setupFilesAfterEnv: ['<rootDir>/test/support/client/setup.ts'],
      testMatch: [
        'accounts',
        'balance',
        'idempotency',
        'msgapp',
        'msgapp-{list,refusals,states}',
        'opt-out',
        'otp',
        'otp-*',
      ]
        .concat('events', 'metadata', 'priority', 'sms', 'sms-{receipts,refusals,states}', 'webhooks')
        .map((each) => `<rootDir>/test/e2e/*/${each}.test.ts`),
    },
    // All that touches TypeORM, on the oldest release that a host may have.
    {
      ...common,
      displayName: 'typeorm-0.3',
      moduleNameMapper: { ...common.moduleNameMapper, '^typeorm$': 'typeorm-0.3' },
      // Plans, rows that are read, settings of servers and the SQL of stores are the same whatever makes the connection; the
      // contract runs here on SQLite.
      testPathIgnorePatterns: [
        '/test/services/.*(plans?|reads|settings|first-start|read-only-server|pgbouncer|(postgres|mariadb)-storage)\\.test',
      ],
      testMatch: ['services/**/*', 'unit/storage/**/*', 'e2e/outbox/host-transactions'].map(
        (each) => `<rootDir>/test/${each}.test.ts`,
      ),
    },
  ],
};
