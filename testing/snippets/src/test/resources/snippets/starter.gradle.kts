implementation("io.github.lockboot:lock-spring-boot-starter:${project.version}")
