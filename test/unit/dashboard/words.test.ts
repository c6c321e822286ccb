import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT } from '../../support/sample-app/sample-app.js';

const WEB = join(ROOT, 'src/dashboard/web');

test('« Remis » means delivered, so nothing else of the dashboard is called so in French', () => {
  const files = readdirSync(WEB, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
  const found = files.flatMap((name) =>
    [...readFileSync(join(WEB, name), 'utf8').matchAll(/(\w+):\s*'[^'\n]*\b(?:remis|remet|remettre)\b[^'\n]*'/gi)].map(
      ([, key]) => key,
    ),
  );
  expect([...new Set(found)].sort()).toEqual(['delivered', 'undelivered']);
});
