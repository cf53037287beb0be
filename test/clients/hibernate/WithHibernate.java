// Hibernate over JDBC: its enhanced sequence generator takes 50 keys at once. The optimizer "pooled" counts down from
// the value that the server returns, "pooled-lo" counts up.
import java.util.HashSet;
import java.util.Set;
import javax.persistence.Entity;
import javax.persistence.GeneratedValue;
import javax.persistence.Id;
import javax.persistence.ManyToOne;
import javax.persistence.Table;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.annotations.GenericGenerator;
import org.hibernate.annotations.Parameter;
import org.hibernate.cfg.Configuration;

public class WithHibernate {
    @Entity
    @Table(name = "customers")
    @GenericGenerator(name = "customers", strategy = "org.hibernate.id.enhanced.SequenceStyleGenerator", parameters = {
        @Parameter(name = "sequence_name", value = "customers_id_seq"),
        @Parameter(name = "increment_size", value = "50"), @Parameter(name = "optimizer", value = "pooled")})
    public static class Customer {
        @Id @GeneratedValue(generator = "customers") public Long id;
        public String name;
    }

    @Entity
    @Table(name = "orders")
    @GenericGenerator(name = "orders", strategy = "org.hibernate.id.enhanced.SequenceStyleGenerator", parameters = {
        @Parameter(name = "sequence_name", value = "orders_id_seq"),
        @Parameter(name = "increment_size", value = "50"),
        @Parameter(name = "optimizer", value = "org.hibernate.id.enhanced.OptimizerFactory$PooledLoOptimizer")})
    public static class Order {
        @Id @GeneratedValue(generator = "orders") public Long id;
        @ManyToOne public Customer customer;
    }

    static void use(SessionFactory factory) {
        Set<Long> keys = new HashSet<>();
        Session session = factory.openSession();
        session.beginTransaction();
        for (int i = 0; i < 120; ++i) {
            Customer customer = new Customer();
            customer.name = "many";
            session.save(customer);
            Order order = new Order();
            order.customer = customer;
            session.save(order);
            keys.add(customer.id);
        }
        session.getTransaction().commit();
        session.close();
        if (keys.size() != 120) throw new IllegalStateException("repeated keys");
        System.out.println("key: " + keys.iterator().next().getClass().getSimpleName());
    }

    public static void main(String[] arguments) {
        Configuration configuration = new Configuration();
        configuration.addAnnotatedClass(Customer.class).addAnnotatedClass(Order.class);
        configuration.setProperty("hibernate.connection.url",
            "jdbc:postgresql://127.0.0.1:" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE"));
        configuration.setProperty("hibernate.connection.username", System.getenv("PGUSER"));
        configuration.setProperty("hibernate.connection.driver_class", "org.postgresql.Driver");
        configuration.setProperty("hibernate.dialect", "org.hibernate.dialect.PostgreSQLDialect");
        configuration.setProperty("hibernate.temp.use_jdbc_metadata_defaults", "false");
        if (!arguments[0].equals("use")) configuration.setProperty("hibernate.hbm2ddl.auto", arguments[0].equals("create") ? "create" : "update");
        SessionFactory factory = configuration.buildSessionFactory();
        if (arguments[0].equals("use")) use(factory);
        factory.close();
    }
}
