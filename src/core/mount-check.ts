import { Injectable } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { MessagingOptionsError } from '../common/errors.js';

type Module = ModulesContainer extends Map<string, infer M> ? M : never;

/**
 * Refuses a module of ours that was loaded after the application's start. Nest mounts no routes and calls no hooks for
 * a module that `LazyModuleLoader` loads, so a send would be charged and never delivered. Each of our modules provides
 * this check.
 */
@Injectable()
export class MountCheck {
  /** @throws MessagingOptionsError if the root module imports one of our modules neither directly nor through others */
  constructor(modules: ModulesContainer) {
    const started = importedBy(rootOf(modules));
    for (const module of modules.values()) {
      if (started.has(module) || !module.providers.has(MountCheck)) continue;
      throw new MessagingOptionsError(
        `${module.metatype.name} is loaded by LazyModuleLoader: Nest would mount none of its routes and start none of its workers. Write it in the imports of a module that the application starts with.`,
      );
    }
  }
}

/** The root module of the application. Nest registers it right after its own internal module. */
function rootOf(modules: ModulesContainer): Module | undefined {
  const [, root] = modules.values();
  return root;
}

function importedBy(root: Module | undefined): ReadonlySet<Module> {
  const found = new Set(root === undefined ? [] : [root]);
  for (const module of found) {
    for (const imported of module.imports) found.add(imported);
  }
  return found;
}
