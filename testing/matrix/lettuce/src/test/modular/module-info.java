open module shop {
    requires io.github.lockboot;
    requires spring.boot;
    requires spring.boot.autoconfigure;
    requires spring.context;
}
