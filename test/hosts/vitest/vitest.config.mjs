import swc from 'unplugin-swc';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { globals: true, include: ['src/**/*.spec.ts'] },
  // Vitest's own compiler emits no metadata of decorators, by which Nest finds what a constructor asks for.
  plugins: [swc.vite({ module: { type: 'es6' } })],
});
