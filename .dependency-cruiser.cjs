/**
 * Which folder of src may import which: arrows point one way. Files that wire the folders together (`*.module.ts`, src/messaging,
 * the command of the operator) may import any folder. Every folder may describe its shapes: `schemas` imports no other folder.
 */
const layers = {
  common: [],
  schemas: [],
  storage: ['common'],
  client: [],
  notifiers: ['common'],
  events: ['common', 'storage'],
  accounts: ['common', 'storage', 'events'],
  outbox: ['common', 'storage', 'events', 'accounts'],
  media: ['common', 'storage', 'events'],
  http: ['common', 'accounts', 'outbox'],
  openapi: ['common', 'accounts', 'http'],
  billing: ['common', 'storage', 'accounts', 'events', 'http', 'openapi'],
  core: ['common', 'storage', 'accounts', 'billing', 'events', 'http', 'media', 'openapi', 'outbox'],
  health: ['common', 'storage', 'accounts', 'http', 'openapi', 'outbox', 'core'],
  sms: ['common', 'storage', 'health', 'accounts', 'billing', 'outbox', 'events', 'http', 'openapi', 'core'],
  otp: ['common', 'accounts', 'events', 'outbox', 'http', 'openapi', 'sms', 'core'],
  msgapp: [
    'common',
    'storage',
    'health',
    'accounts',
    'billing',
    'events',
    'outbox',
    'http',
    'media',
    'openapi',
    'core',
  ],
  webhooks: ['common', 'storage', 'accounts', 'events', 'outbox', 'http', 'media', 'openapi', 'core'],
  hooks: ['common', 'storage', 'accounts', 'events', 'outbox', 'http', 'openapi', 'sms', 'otp', 'core'],
  campaigns: ['common', 'storage', 'accounts', 'events', 'outbox', 'http', 'openapi', 'sms', 'core'],
  sandbox: ['common', 'events', 'storage', 'http', 'media', 'outbox', 'openapi', 'sms', 'msgapp', 'webhooks', 'core'],
  operator: ['common', 'storage', 'accounts', 'billing', 'events', 'outbox', 'sms', 'core'],
  management: [
    'common',
    'storage',
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
    'hooks',
    'campaigns',
    'core',
  ],
  compat: ['common', 'storage', 'accounts', 'events', 'outbox', 'http', 'openapi', 'sms', 'otp', 'webhooks', 'core'],
  mcp: ['common', 'accounts', 'billing', 'events', 'outbox', 'http', 'openapi', 'sms', 'webhooks', 'core'],
  dashboard: ['common', 'accounts', 'http', 'openapi', 'core', 'management'],
  telemetry: [
    'common',
    'storage',
    'accounts',
    'billing',
    'events',
    'outbox',
    'http',
    'openapi',
    'sms',
    'msgapp',
    'webhooks',
    'hooks',
    'campaigns',
    'core',
  ],
  transports: ['common', 'outbox', 'media', 'sms', 'msgapp', 'core'],
};

/** The files that wire the folders together. */
const WIRING = '^src/([^/]+/[^/]+\\.module\\.ts$|messaging/|operator/operator-command\\.ts$|storage/index\\.ts$)';

/** The application of the dashboard, which runs in browsers. */
const PAGE = '^src/dashboard/web/';

/** Tables of words from which types and lists are derived. They load nothing. */
const TABLES = 'events/(delivery|session)-status|accounts/keys/permissions';

/** The files of shapes, and the tables that they name. */
const SHAPES = `\\.api\\.ts$|^src/(events/event-types|${TABLES})\\.ts$`;

const oneWay = Object.entries(layers)
  // See client-loads-nothing.
  .filter(([layer]) => layer !== 'client')
  .map(([layer, allowed]) => ({
    name: `${layer}-knows-only-what-is-below-it`,
    severity: 'error',
    from: { path: `^src/${layer}/`, pathNot: [WIRING, PAGE] },
    to: { path: '^src/', pathNot: [layer, 'schemas', ...allowed].map((each) => `^src/${each}/`) },
  }));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...oneWay,
    {
      name: 'only-the-wiring-imports-the-wiring',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [WIRING, '^src/index\\.ts$', '^src/(compat|dashboard|hooks|mcp)/index\\.ts$', '^src/testing/'],
      },
      to: { path: WIRING },
    },
    {
      name: 'client-loads-nothing',
      comment:
        'The client runs in browsers and without Nest. From elsewhere it may import the types of shapes that travel, and two files that load nothing themselves.',
      severity: 'error',
      from: { path: '^src/client/' },
      to: {
        pathNot: `^src/(client/|(events/event-types|.+\\.api|${TABLES}|common/(retry-after|time))\\.ts$)`,
      },
    },
    {
      name: 'dashboard-calls-by-the-client',
      comment:
        'The page of the dashboard makes every call through the client. From elsewhere it may import the types of the shapes that travel (the build fails if it loads more of them than types), and a few files that load nothing.',
      severity: 'error',
      from: { path: PAGE },
      to: {
        path: '^src/',
        pathNot: [
          PAGE,
          '^src/client/',
          '\\.api\\.ts$',
          `^src/(common/(time|text/(personal-text|visible-text))|${TABLES}|sms/(gsm7|segmentation)|campaigns/recipients/csv-dialect)\\.ts$`,
        ],
      },
    },
    {
      name: 'only-the-bundle-loads-the-page',
      severity: 'error',
      from: { path: '^src/', pathNot: PAGE },
      to: { path: PAGE },
    },
    {
      name: 'shapes-load-only-shapes',
      comment: 'The dashboard and the client are type-checked with the shapes that they import, without Node.',
      severity: 'error',
      from: { path: SHAPES },
      to: { pathNot: `${SHAPES}|^src/schemas/` },
    },
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'only-the-wiring-imports-adapters',
      comment: 'Transports, those of the sandbox among them, are adapters: a host may mount others in their place.',
      severity: 'error',
      from: { path: '^src/', pathNot: [WIRING, '^src/(transports|testing)/', '^src/index\\.ts$'] },
      to: { path: '^src/transports/|^src/sandbox/sandbox-(sms|msgapp)-transport\\.ts$' },
    },
    {
      name: 'root-entry-loads-no-optional-engine',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(transports/(smpp|http|baileys)|notifiers/redis)/' },
      // What is imported when it is first needed is not loaded with the entry.
      to: { path: '^(baileys|smpp|bullmq|pg|redis|mysql2)$', dependencyTypesNot: ['type-only', 'dynamic-import'] },
    },
    {
      name: 'not-from-tests',
      comment: 'The contract suites are built into the package, as a part of its testing entry.',
      severity: 'error',
      from: { path: '^(src|test/contract)/' },
      to: { path: '^(test|bench|sample-app)/', pathNot: '^test/contract/' },
    },
    {
      name: 'only-the-testing-entry-has-contract-suites',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/testing/index\\.ts$' },
      to: { path: '^test/contract/' },
    },
    {
      name: 'no-dev-dependency-at-run-time',
      severity: 'error',
      // The packages of the page are bundled into it.
      from: { path: '^(src|test/contract)/', pathNot: PAGE },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only', 'npm-peer'] },
    },
  ],
  options: {
    parser: 'tsc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
  },
};
