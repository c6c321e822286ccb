import swc from 'unplugin-swc';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { globals: true, include: ['src/**/*.spec.ts'] },
  // Vitest's own compiler emits no metadata of decorators, which Nest needs to find the arguments of a constructor.
  plugins: [swc.vite({ module: { type: 'es6' } })],
});
