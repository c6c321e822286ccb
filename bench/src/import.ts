import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { median } from './versus.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Measures the CPU time of importing this package and `@nestjs/core`, in ms. Each import runs in a process of its own,
 * and the two take turns.
 */
export function benchImport(rounds: number): { readonly ours: number; readonly nest: number; readonly ratio: number } {
  const pairs = Array.from({ length: rounds }, () => ({
    nest: cpuOfImport('@nestjs/core'),
    ours: cpuOfImport('nestjs-messaging'),
  }));
  const ours = median(pairs.map((pair) => pair.ours));
  const nest = median(pairs.map((pair) => pair.nest));
  return { ours, nest, ratio: median(pairs.map((pair) => pair.ours / pair.nest)) };
}

function cpuOfImport(name: string): number {
  const program = `const before = process.cpuUsage();
    await import('${name}');
    const { user, system } = process.cpuUsage(before);
    console.log(user + system);`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { cwd: ROOT });
  return Number(printed.toString()) / 1000;
}
