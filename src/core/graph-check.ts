import { Injectable, Logger, type OnModuleInit, type Type } from '@nestjs/common';
import { MODULE_PATH } from '@nestjs/common/constants.js';
import { ModulesContainer } from '@nestjs/core';
import { MessagingOptionsError } from '../common/errors.js';
import { isPort } from '../common/port.js';
import { MountedCapability } from './capability.js';
import { ConfiguredModule } from './configured-module.js';

/** Reports mistakes in the host's module graph at start that Nest does not report. */
@Injectable()
export class GraphCheck implements OnModuleInit {
  /** @throws MessagingOptionsError when the application has two cores */
  constructor(private readonly modules: ModulesContainer) {
    const cores = [...modules.values()].filter((module) => module.providers.has(GraphCheck));
    if (cores.length > 1) {
      throw new MessagingOptionsError(
        'There are two messaging cores in this application. Mount everything with one MessagingModule.forRoot({ … }), or give each module the same core: MessagingCore.forRoot({ … }).',
      );
    }
  }

  /**
   * Warns of ports that the host provides beside our options, because ours are used instead.
   * @throws MessagingOptionsError when RouterModule gives a path to a module of ours that has no routes of its own
   */
  onModuleInit(): void {
    const modules = [...this.modules.values()];
    const ours = modules.filter(({ providers }) => providers.has(GraphCheck) || providers.has(MountedCapability));
    for (const module of modules) {
      if (ours.includes(module)) continue;
      this.checkPath(module.metatype);
      for (const port of [...module.providers.keys()].filter(isPort)) {
        const isOurOwn = ours.some(({ providers }) => providers.has(port));
        // Where we provide none of our own, a module that exports the port is the one that our options name.
        if (!isOurOwn && module.exports.has(port)) continue;
        new Logger('Messaging').warn(
          `${module.metatype.name} provides ${port.name}, which the messaging module does not see: give it in the options of forRoot.`,
        );
      }
    }
  }

  /** Nest applies the path to the controllers of that very module, and `MessagingModule` only imports others. */
  private checkPath(module: Type<unknown>): void {
    const path: unknown = Reflect.getMetadata(MODULE_PATH + this.modules.applicationId, module);
    if (typeof path !== 'string' || !(module.prototype instanceof ConfiguredModule)) return;
    const given = path.replace(/^\/+|\/+$/g, '');
    throw new MessagingOptionsError(
      `RouterModule gives ${module.name} the path "${path}", which would reach none of its routes. Write it in the option path instead: ${module.name}.forRoot({ path: "${given}/api/v1", … }).`,
    );
  }
}
