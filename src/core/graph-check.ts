import { Injectable, Logger, type OnModuleInit, type Type } from '@nestjs/common';
import { MODULE_PATH } from '@nestjs/common/constants.js';
import { ModulesContainer } from '@nestjs/core';
import { MessagingOptionsError } from '../common/errors.js';
import { isPort } from '../common/port.js';
import { MountedCapability } from './capability.js';
import { ConfiguredModule } from './configured-module.js';

/** When the application starts, reports mistakes in the host's module graph that Nest does not report. */
@Injectable()
export class GraphCheck implements OnModuleInit {
  /** @throws MessagingOptionsError if the application has two cores */
  constructor(private readonly modules: ModulesContainer) {
    const cores = [...modules.values()].filter((module) => module.providers.has(GraphCheck));
    if (cores.length > 1) {
      throw new MessagingOptionsError(
        'There are two messaging cores in this application. Mount everything with one MessagingModule.forRoot({ … }), or give each module the same core: MessagingCore.forRoot({ … }).',
      );
    }
  }

  /**
   * Warns of ports that the host provides outside our options, because our own providers are used instead.
   * @throws MessagingOptionsError if RouterModule gives a path to a module of ours that has no routes of its own
   */
  onModuleInit(): void {
    const modules = [...this.modules.values()];
    const ours = modules.filter(({ providers }) => providers.has(GraphCheck) || providers.has(MountedCapability));
    for (const module of modules) {
      if (ours.includes(module)) continue;
      this.checkPath(module.metatype);
      for (const port of [...module.providers.keys()].filter(isPort)) {
        const isOurOwn = ours.some(({ providers }) => providers.has(port));
        // If we do not provide the port ourselves, our options name a module that exports it. This is that module.
        if (!isOurOwn && module.exports.has(port)) continue;
        new Logger('Messaging').warn(
          `${module.metatype.name} provides ${port.name}, which the messaging module does not see: give it in the options of forRoot.`,
        );
      }
    }
  }

  /**
   * Refuses such a path. Nest applies it only to the controllers of the named module itself, and `MessagingModule` only
   * imports other modules.
   */
  private checkPath(module: Type<unknown>): void {
    const path: unknown = Reflect.getMetadata(MODULE_PATH + this.modules.applicationId, module);
    if (typeof path !== 'string' || !(module.prototype instanceof ConfiguredModule)) return;
    const given = path.replace(/^\/+|\/+$/g, '');
    throw new MessagingOptionsError(
      `RouterModule gives ${module.name} the path "${path}", which would reach none of its routes. Write it in the option path instead: ${module.name}.forRoot({ path: "${given}/api/v1", … }).`,
    );
  }
}
