import { fileURLToPath } from 'node:url';
import config from '../jest.config.js';
import { jestArguments } from './support/jest/jest-arguments.mjs';

// `npm run jest`: Jest, which runs the named files even if they follow `--selectProjects`.

const [node, , ...words] = process.argv;
const projects = config.projects.map(({ displayName }) => displayName);
process.argv = [node, fileURLToPath(import.meta.resolve('jest/bin/jest')), ...jestArguments(words, projects)];
await import('jest/bin/jest');
