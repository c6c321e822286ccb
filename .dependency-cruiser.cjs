/** Which folder of src/ may know which (design: dependencies point one way). */
const layers = {
  common: [],
  events: ['common', 'outbox'],
  accounts: ['common'],
  outbox: ['common', 'events'],
  http: ['common', 'accounts', 'outbox'],
  billing: ['common', 'accounts', 'http'],
  sandbox: ['common', 'http', 'outbox', 'sms', 'msgapp'],
  media: ['common'],
  storage: ['common', 'accounts', 'billing', 'outbox', 'sandbox', 'media', 'sms', 'msgapp'],
  sms: ['common', 'accounts', 'billing', 'outbox', 'events', 'http', 'core'],
  otp: ['common', 'accounts', 'events', 'outbox', 'http', 'sms', 'core'],
  msgapp: ['common', 'accounts', 'billing', 'events', 'outbox', 'http', 'media', 'core'],
  transports: ['common', 'outbox', 'media', 'sms', 'msgapp'],
  core: [
    'common',
    'accounts',
    'billing',
    'events',
    'http',
    'media',
    'msgapp',
    'outbox',
    'sandbox',
    'sms',
    'otp',
    'storage',
  ],
  openapi: ['common', 'accounts', 'billing', 'http', 'msgapp', 'outbox', 'sandbox', 'sms', 'otp', 'core'],
  testing: ['common', 'accounts', 'billing', 'media', 'msgapp', 'outbox', 'otp', 'sandbox', 'sms', 'storage'],
};

const oneWay = Object.entries(layers).map(([layer, allowed]) => ({
  name: `${layer}-knows-only-what-is-below-it`,
  severity: 'error',
  // A module wires what is above it too; a description for OpenAPI knows the words to describe with.
  from: { path: `^src/${layer}/`, pathNot: '\\.(module|openapi)\\.ts$' },
  to: { path: '^src/', pathNot: [layer, ...allowed].map((each) => `^src/${each}/`) },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...oneWay,
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'only-the-wiring-knows-adapters',
      comment:
        'storage/typeorm, transports and the transports of the sandbox are adapters; only modules and the entry name them.',
      severity: 'error',
      from: { path: '^src/', pathNot: '(\\.module\\.ts|/index\\.ts)$|^src/(storage|transports|testing)/' },
      to: { path: '^src/(storage/typeorm|transports)/|^src/sandbox/sandbox-(sms|msgapp)-transport\\.ts$' },
    },
    {
      name: 'root-entry-loads-no-optional-engine',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/transports/(smpp|http|baileys)/' },
      to: { path: '^(baileys|smpp|bullmq|pg|mysql2)$', dependencyTypesNot: ['type-only'] },
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
  options: { parser: 'swc', tsPreCompilationDeps: true, doNotFollow: { path: 'node_modules' } },
};
