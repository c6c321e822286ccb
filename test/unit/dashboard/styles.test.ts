import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT } from '../../support/sample-app/sample-app.js';

const WEB = join(ROOT, 'src/dashboard/web');
const filesWith = (end: string): readonly string[] =>
  readdirSync(WEB, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(end))
    .map((path) => join(WEB, path));
const read = (path: string): string => readFileSync(path, 'utf8');

/** Whether a screen loads a stylesheet: one of its own folder, one of every page, or one of `shared` that it imports by name. */
function isLoadedBy(screen: string, sheet: string): boolean {
  if (!sheet.startsWith(join(WEB, 'screens/'))) return true;
  // `shared/segments.tsx` brings `segments.css`, so the name without its ending is enough.
  return dirname(sheet) === dirname(screen) || read(screen).includes(`'../shared/${basename(sheet, 'css')}`);
}

test('no screen uses a class whose only style belongs to a screen that may not be loaded', () => {
  const sheets = filesWith('.css').map((path) => ({
    path,
    classes: new Set(read(path).match(/(?<=\.)[a-z][\w-]*/g)),
  }));
  const faults = filesWith('.tsx')
    .filter((path) => path.includes('/screens/') && !path.includes('/screens/shared/'))
    .flatMap((screen) => {
      const used = [...read(screen).matchAll(/class="([^"]+)"/g)].flatMap(([, names = '']) => names.split(' '));
      return used
        .map((name) => ({ name, styled: sheets.filter(({ classes }) => classes.has(name)) }))
        .filter(({ styled }) => styled.length > 0 && !styled.some(({ path }) => isLoadedBy(screen, path)))
        .map(({ name }) => `${screen.slice(WEB.length)} ${name}`);
    });
  expect(faults).toEqual([]);
});
