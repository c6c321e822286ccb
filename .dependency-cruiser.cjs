/** Which folder of src/ may know which: dependencies point one way. The files beside the folders wire them together. */
const layers = {
  common: [],
  schemas: [],
  events: ['common'],
  notifiers: ['common'],
  redis: ['common', 'notifiers'],
  accounts: ['common', 'events'],
  outbox: ['common', 'events'],
  media: ['common'],
  http: ['common', 'accounts', 'outbox'],
  openapi: ['common', 'accounts', 'http'],
  billing: ['common', 'accounts', 'events', 'http', 'openapi'],
  core: ['common', 'accounts', 'billing', 'events', 'http', 'media', 'openapi', 'outbox'],
  health: ['common', 'accounts', 'http', 'openapi', 'outbox', 'core'],
  terminus: ['common', 'health'],
  sms: ['health', 'common', 'accounts', 'billing', 'outbox', 'events', 'http', 'openapi', 'core'],
  otp: ['common', 'accounts', 'events', 'outbox', 'http', 'openapi', 'sms', 'core'],
  msgapp: ['health', 'common', 'accounts', 'billing', 'events', 'outbox', 'http', 'media', 'openapi', 'core'],
  sandbox: ['common', 'http', 'media', 'outbox', 'openapi', 'sms', 'msgapp', 'webhooks', 'core'],
  operator: ['common', 'accounts', 'billing', 'events', 'outbox', 'sms', 'core'],
  webhooks: ['common', 'accounts', 'events', 'outbox', 'http', 'media', 'openapi', 'core'],
  management: [
    'common',
    'health',
    'accounts',
    'billing',
    'events',
    'outbox',
    'http',
    'openapi',
    'sms',
    'msgapp',
    'webhooks',
    'core',
  ],
  dashboard: ['common', 'accounts', 'http', 'openapi', 'core', 'management'],
  telemetry: [
    ...['common', 'accounts', 'billing', 'events', 'outbox', 'http', 'openapi', 'sms', 'msgapp', 'webhooks', 'core'],
  ],
  prometheus: ['common', 'core'],
  opentelemetry: ['common'],
  storage: [
    'common',
    'management',
    'accounts',
    'billing',
    'events',
    'outbox',
    'sandbox',
    'media',
    'sms',
    'msgapp',
    'webhooks',
    'core',
  ],
  transports: ['common', 'outbox', 'media', 'sms', 'msgapp', 'core'],
  testing: [
    'common',
    'accounts',
    'billing',
    'events',
    'management',
    'media',
    'msgapp',
    'outbox',
    'otp',
    'sandbox',
    'sms',
    'storage',
    'webhooks',
    'core',
  ],
};

/** Every folder may describe its shapes: `schemas` knows no other folder. */
const oneWay = Object.entries(layers).map(([layer, allowed]) => ({
  name: `${layer}-knows-only-what-is-below-it`,
  severity: 'error',
  from: { path: `^src/${layer}/`, pathNot: `^src/${layer}/sql/` },
  to: { path: '^src/', pathNot: [layer, 'schemas', ...allowed].map((each) => `^src/${each}/`) },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...oneWay,
    {
      name: 'sql-knows-its-capability-and-the-storage',
      comment:
        'A capability may bring its stores in SQL in a folder named sql, which only the capability itself imports.',
      severity: 'error',
      from: { path: '^src/([^/]+)/sql/' },
      to: { path: '^src/', pathNot: ['^src/$1/', '^src/common/', '^src/core/', '^src/storage/typeorm/'] },
    },
    {
      name: 'client-loads-nothing',
      comment:
        'The client runs in browsers and without Nest. From elsewhere it may import only the types of shapes that travel; the build fails if it loads more than types.',
      severity: 'error',
      from: { path: '^src/client/' },
      to: { pathNot: '^src/(client/|events/event-types\\.ts$|.+\\.api\\.ts$)' },
    },
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'only-the-wiring-knows-adapters',
      comment:
        'storage/typeorm, transports and the transports of the sandbox are adapters; only the files beside the folders of src name them.',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: '^src/(storage|transports|testing)/|^src/[^/]+/sql/' },
      to: { path: '^src/(storage/typeorm|transports)/|^src/sandbox/sandbox-(sms|msgapp)-transport\\.ts$' },
    },
    {
      name: 'root-entry-loads-no-optional-engine',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(transports/(smpp|http|baileys)|redis)/' },
      // What is imported when it is first needed is not loaded with the entry.
      to: { path: '^(baileys|smpp|bullmq|pg|redis|mysql2)$', dependencyTypesNot: ['type-only', 'dynamic-import'] },
    },
    {
      name: 'not-from-tests',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|bench|sample-app)/' },
    },
    {
      name: 'no-dev-dependency-at-run-time',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only', 'npm-peer'] },
    },
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: '^src/dashboard/web/',
  },
};
