import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { PolicyStore } from '../../../src/outbox/policy/policy-store.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { busiestSecond, runPaced } from '../../support/outbox/paced-workers.js';

const available = await hasServer('PostgreSQL', 5432);
const database = available ? await createPostgresDatabase() : undefined;

beforeAll(() => Logger.overrideLogger(false));
afterAll(() => database?.drop());

const suite = available ? describe : describe.skip;
suite('a limit in segments a second', () => {
  test('holds for three processes together on one PostgreSQL', async () => {
    const storages = [1, 2, 3].map(() => new TypeormStorage({ database: database?.url ?? '' }));
    for (const storage of storages) await storage.start();
    const { segments, shares } = await runPaced(
      storages.map((storage) => storage.store(PolicyStore)),
      { sms: 200, segmentsPerSecond: 25 },
    );
    expect(segments).toHaveLength(200);
    expect(busiestSecond(segments)).toBeLessThanOrEqual(25 * 1.1);
    expect(segments.at(-1)).toBeLessThan(10_000);
    expect(shares.filter((share) => share > 10)).toHaveLength(3);
    for (const storage of storages) await storage.stop();
  });
});
