// The log-in by phone of better-auth on SQLite, with the same promises as far as it gives them. Plain JavaScript: what it
// imports is installed by `npm run bench` only, and the type check of the project must do without.
import { createServer } from 'node:http';
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { toNodeHandler } from 'better-auth/node';
import { phoneNumber } from 'better-auth/plugins';
import Database from 'better-sqlite3';

const { url } = JSON.parse(process.argv[2] ?? '{}');
const database = new Database(url.slice('sqlite:'.length));
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
const codes = new Map();
const options = {
  baseURL: 'http://127.0.0.1',
  secret: 'bench-bench-bench-bench-bench-bench-0123456789',
  database,
  logger: { disabled: true },
  telemetry: { enabled: false },
  rateLimit: { enabled: false },
  advanced: { disableCSRFCheck: true, disableOriginCheck: true },
  plugins: [
    phoneNumber({
      otpLength: 4,
      sendOTP: ({ phoneNumber: number, code }) => void codes.set(number, code),
    }),
  ],
};
const { runMigrations } = await getMigrations(options);
await runMigrations();
const auth = betterAuth(options);
const server = createServer(toNodeHandler(auth));
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port, key: 'none' }));

process.on('message', async (message) => {
  if (message === 'memory') {
    const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
    process.send({ rss: maxRSS * 1024, cpu: userCPUTime + systemCPUTime });
  }
  if (message === 'stop') server.close(() => process.exit(0)).closeAllConnections();
  if (message?.codes) {
    for (const number of message.codes) await auth.api.sendPhoneNumberOTP({ body: { phoneNumber: `+${number}` } });
    process.send({ codes: message.codes.map((number) => [number, codes.get(`+${number}`)]) });
  }
});
