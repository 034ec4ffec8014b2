package io.github.lockboot.aop;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.sql.DataSource;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.autoconfigure.LockAutoConfiguration;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.support.OpenEntityManagerInViewInterceptor;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.context.request.ServletWebRequest;

import static org.assertj.core.api.Assertions.assertThat;

/** A request that reads an entity and then calls a locked method, with and without {@code spring.jpa.open-in-view}. */
class OpenEntityManagerInViewTests {

    private static final int REQUESTS = 10;

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withUserConfiguration(Application.class)
            .withPropertyValues("lock.type=memory");

    @Test
    void anEntityThatTheRequestHasReadBeforeTheLockIsOld() {
        runner.run(context -> {
            OpenEntityManagerInViewInterceptor view = new OpenEntityManagerInViewInterceptor();
            view.setEntityManagerFactory(context.getBean(EntityManagerFactory.class));
            int balance = balanceAfter(context.getBean(Accounts.class), view, context.getBean(JdbcTemplate.class));
            assertThat(balance)
                    .as("each deposit began with the 0 that its request had read")
                    .isEqualTo(1);
        });
    }

    @Test
    void withoutAnOpenEntityManagerItIsReadUnderTheLock() {
        runner.run(context -> assertThat(
                        balanceAfter(context.getBean(Accounts.class), null, context.getBean(JdbcTemplate.class)))
                .isEqualTo(REQUESTS));
    }

    /** All requests have read the account when the first one deposits. */
    private static int balanceAfter(Accounts accounts, OpenEntityManagerInViewInterceptor view, JdbcTemplate database) {
        database.update("insert into account (id, balance) values ('a', 0)");
        CyclicBarrier read = new CyclicBarrier(REQUESTS);
        Executor threads = task -> new Thread(task).start();
        List<CompletableFuture<Void>> requests = Stream.generate(() -> CompletableFuture.runAsync(
                        () -> request(view, () -> {
                            accounts.read("a");
                            await(read);
                            accounts.deposit("a");
                        }),
                        threads))
                .limit(REQUESTS)
                .toList();
        requests.forEach(CompletableFuture::join);
        return database.queryForObject("select balance from account", Integer.class);
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await(60, TimeUnit.SECONDS);
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
    }

    /** As Spring MVC runs a controller. */
    private static void request(OpenEntityManagerInViewInterceptor view, Runnable controller) {
        if (view == null) {
            controller.run();
            return;
        }
        ServletWebRequest request = new ServletWebRequest(new MockHttpServletRequest());
        view.preHandle(request);
        try {
            controller.run();
        } finally {
            view.afterCompletion(request, null);
        }
    }

    static class Accounts {

        private final EntityManager entities;

        Accounts(EntityManagerFactory factory) {
            this.entities = SharedEntityManagerCreator.createSharedEntityManager(factory);
        }

        public int read(String id) {
            return entities.find(Account.class, id).balance;
        }

        @DistributedLock(name = "account", key = "#id", waitTime = "60s")
        @Transactional
        public void deposit(String id) {
            entities.find(Account.class, id).balance++;
        }
    }

    @Entity(name = "account")
    static class Account {

        @Id
        private String id;

        private int balance;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class Application {

        @Bean
        DataSource database() {
            return new DriverManagerDataSource("jdbc:h2:mem:open-in-view;DB_CLOSE_DELAY=-1");
        }

        @Bean
        JdbcTemplate jdbc(DataSource database) {
            return new JdbcTemplate(database);
        }

        @Bean
        LocalContainerEntityManagerFactoryBean entityManagerFactory(DataSource database) {
            LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();
            factory.setDataSource(database);
            factory.setManagedTypes(PersistenceManagedTypes.of(Account.class.getName()));
            HibernateJpaVendorAdapter hibernate = new HibernateJpaVendorAdapter();
            hibernate.setGenerateDdl(true);
            factory.setJpaVendorAdapter(hibernate);
            factory.getJpaPropertyMap().put("hibernate.hbm2ddl.auto", "create-drop");
            return factory;
        }

        @Bean
        PlatformTransactionManager transactionManager(EntityManagerFactory factory) {
            return new JpaTransactionManager(factory);
        }

        @Bean
        Accounts accounts(EntityManagerFactory factory) {
            return new Accounts(factory);
        }
    }
}
